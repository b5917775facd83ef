import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod } from '#api/testing/objects.ts';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { allSeconds, groupPods, shutdownPeriods } from './periods.ts';

const periodsOf = (given: Readonly<Record<string, unknown>>) => shutdownPeriods(parseKubeletConfiguration(given, 'test'));
const podOf = (name: string, priority?: number) => aPod({ metadata: { name }, spec: priority === undefined ? {} : { priority } });

test('without a word of it, pods are not ended when the node goes down', () => {
  assert.deepEqual(periodsOf({}), []);
});

test('a period and a part of it for critical pods are two groups', () => {
  const periods = periodsOf({ shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' });
  assert.deepEqual(periods, [
    { priority: 0, seconds: 20 },
    { priority: 2_000_000_000, seconds: 10 },
  ]);
  assert.equal(allSeconds(periods), 30);
});

test('a pod belongs to the highest priority that is not above its own, the lowest takes what is below it', () => {
  const shutdownGracePeriodByPodPriority = [
    { priority: 1000, shutdownGracePeriodSeconds: 30 },
    { priority: 10, shutdownGracePeriodSeconds: 20 },
  ];
  const pods = [podOf('below', -5), podOf('none'), podOf('ten', 10), podOf('between', 999), podOf('exact', 1000), podOf('above', 2_000_000_000)];
  const groups = groupPods(pods, periodsOf({ shutdownGracePeriodByPodPriority }));
  assert.deepEqual(
    groups.map(({ priority, seconds, pods: members }) => [priority, seconds, members.map(({ metadata }) => metadata.name)]),
    [
      [10, 20, ['below', 'none', 'ten', 'between']],
      [1000, 30, ['exact', 'above']],
    ],
  );
});

test('every pod is in exactly one group', () => {
  const priorities = fc.array(fc.integer({ min: -10, max: 10 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: -10, max: 10 }), { minLength: 1 }), priorities, (of, given) => {
      const byPriority = of.map((priority) => ({ priority, shutdownGracePeriodSeconds: 1 }));
      const pods = given.map((priority, index) => podOf(`p${index}`, priority));
      const groups = groupPods(pods, periodsOf({ shutdownGracePeriodByPodPriority: byPriority }));
      assert.deepEqual(groups.flatMap((group) => group.pods).length, pods.length);
      assert.deepEqual(new Set(groups.flatMap((group) => group.pods)), new Set(pods));
    }),
  );
});

test('what makes no sense is refused in upstream’s words', () => {
  const refusals: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ shutdownGracePeriod: '1s', shutdownGracePeriodCriticalPods: '2s' }, 'shutdownGracePeriodCriticalPods 2s must be <= shutdownGracePeriod 1s'],
    [{ shutdownGracePeriod: '500ms' }, 'shutdownGracePeriod 500ms must be either zero or otherwise >= 1 sec'],
    [
      { shutdownGracePeriod: '2s', shutdownGracePeriodCriticalPods: '1ms' },
      'shutdownGracePeriodCriticalPods 1ms must be either zero or otherwise >= 1 sec',
    ],
    [
      { shutdownGracePeriod: '2s', shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 1 }] },
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    ],
  ];
  for (const [given, message] of refusals) assert.throws(() => periodsOf(given), { message: `invalid configuration: ${message}` });
});
