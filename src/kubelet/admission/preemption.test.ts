import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podRequests } from '#api/pod/requests.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { planPreemption } from './preemption.ts';
import type { Shortage } from './resources.ts';

const critical = aPod({ metadata: { uid: 'critical' }, spec: { priority: 2_000_000_000 } });

function pod(uid: string, qosClass: string, cpu: string, memory = '0', priority = 0): Pod {
  return aPod({
    metadata: { uid },
    spec: { priority, containers: [aContainer({ resources: { requests: { cpu, memory } } })] },
    status: { qosClass },
  });
}

function lack(resource: string, amount: number): Shortage {
  return { resource, requested: amount, used: 100, capacity: 100 };
}

function victims(others: readonly Pod[], ...lacks: readonly Shortage[]): readonly string[] | string {
  const plan = planPreemption(critical, others, lacks);
  return plan.kind === 'victims' ? plan.victims.map(({ metadata }) => metadata.uid) : plan.message;
}

test('the pod that fits the need best goes, not the largest', () => {
  const others = [pod('large', 'Burstable', '4'), pod('fits', 'Burstable', '1'), pod('small', 'Burstable', '900m')];
  assert.deepEqual(victims(others, lack('cpu', 1000)), ['fits']);
});

test('a better class loses pods only for what the others cannot give', () => {
  const others = [pod('g', 'Guaranteed', '2'), pod('b', 'Burstable', '1'), pod('e', 'BestEffort', '0')];
  assert.deepEqual(victims(others, lack('cpu', 1000)), ['b']);
  assert.deepEqual(victims(others, lack('pods', 1)), ['e']);
  assert.deepEqual(victims(others, lack('cpu', 1500)), ['g']);
  assert.deepEqual(victims(others, lack('cpu', 3000)), ['b', 'g']);
});

test('of two that do as well the one that asks for less memory, then less CPU', () => {
  const others = [pod('a', 'Burstable', '2', '2Gi'), pod('b', 'Burstable', '2', '1Gi'), pod('c', 'Burstable', '3', '1Gi')];
  assert.deepEqual(victims(others, lack('cpu', 1000)), ['b']);
});

test('critical pods are safe, and without enough others nobody goes', () => {
  const others = [pod('c', 'Burstable', '8', '0', 2_000_000_000), pod('b', 'Burstable', '1')];
  assert.equal(
    victims(others, lack('cpu', 1500), lack('memory', 5)),
    'preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 500), (res: memory, q: 5), ]',
  );
});

test('a critical pod of a higher priority may take the room of one of a lower', () => {
  const system = aPod({ metadata: { uid: 'system' }, spec: { priority: 2_000_001_000 } });
  const plan = planPreemption(system, [pod('c', 'Burstable', '8', '0', 2_000_000_000)], [lack('cpu', 1000)]);
  assert.equal(plan.kind, 'victims');
});

test('the victims are enough, and Guaranteed pods go only when all others would not do', () => {
  const classes = fc.constantFrom('BestEffort', 'Burstable', 'Guaranteed');
  const some = fc.array(fc.tuple(classes, fc.integer({ min: 1, max: 20 })), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 100 }), (shapes, amount) => {
      const others = shapes.map(([qos, cpu], index) => pod(String(index), qos, `${cpu}m`));
      const sum = (pods: readonly Pod[]) => pods.reduce((total, one) => total + (podRequests(one).get('cpu') ?? 0), 0);
      const plan = planPreemption(critical, others, [lack('cpu', amount)]);
      if (plan.kind === 'impossible') return assert.ok(sum(others) < amount);
      assert.ok(sum(plan.victims) >= amount);
      const guaranteed = plan.victims.filter(({ status }) => status?.qosClass === 'Guaranteed');
      const lesser = others.filter(({ status }) => status?.qosClass !== 'Guaranteed');
      if (guaranteed.length > 0) assert.ok(sum(lesser) < amount, 'a Guaranteed pod went although the others would do');
      assert.equal(new Set(plan.victims).size, plan.victims.length);
    }),
  );
});
