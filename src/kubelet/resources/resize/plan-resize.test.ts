import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quantityToNumber } from '#api/quantity.ts';
import type { CgroupSettings } from '../../ports/cgroups.ts';
import { planResize, type ResizedContainer } from './plan-resize.ts';
import { type Size, sizeOf } from './sizes.ts';

const now = { cpuShares: 1024, cpuQuotaUs: 100_000, cpuPeriodUs: 100_000, memoryLimitBytes: 100 };
const size = (cpu: string, memory: string): Size => ({ requests: { cpu, memory }, limits: { cpu, memory } });

function container(name: string, actual: Size, wanted: Size, restartsFor: ResizedContainer['restartsFor'] = []): ResizedContainer {
  return { id: `id-${name}`, name, actual, wanted, restartsFor };
}

/** `pod memoryLimitBytes=200`, `a cpu=1 memory=50` */
function steps(wanted: CgroupSettings, ...containers: readonly ResizedContainer[]): readonly string[] {
  return planResize(now, wanted, containers).map((action) => {
    if (action.kind === 'container') return `${action.name} cpu=${action.size.limits.cpu} memory=${action.size.limits.memory}`;
    return `pod ${Object.entries(action.settings)
      .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
      .join(' ')}`;
  });
}

test('nothing that is different, nothing to do', () => {
  assert.deepEqual(
    steps({ cpuShares: 1024, cpuQuotaUs: 100_000, cpuPeriodUs: 100_000, memoryLimitBytes: 100 }, container('a', size('1', '1'), size('1000m', '1'))),
    [],
  );
});

test('a pod that grows does so before its containers, memory first', () => {
  const wanted = { cpuShares: 2048, cpuQuotaUs: 200_000, cpuPeriodUs: 100_000, memoryLimitBytes: 200 };
  assert.deepEqual(steps(wanted, container('a', size('1', '100'), size('2', '200'))), [
    'pod memoryLimitBytes=200',
    'a cpu=1 memory=200',
    'pod cpuQuotaUs=200000 cpuPeriodUs=100000',
    'pod cpuShares=2048',
    'a cpu=2 memory=200',
  ]);
});

test('a pod that shrinks does so after its containers', () => {
  const wanted = { cpuShares: 512, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, memoryLimitBytes: 50 };
  assert.deepEqual(steps(wanted, container('a', size('1', '100'), size('500m', '50'))), [
    'a cpu=1 memory=50',
    'pod memoryLimitBytes=50',
    'a cpu=500m memory=50',
    'pod cpuShares=512',
    'pod cpuQuotaUs=50000 cpuPeriodUs=100000',
  ]);
});

test('of the containers those that shrink come first', () => {
  const grows = container('grows', size('1', '40'), size('1', '60'));
  const shrinks = container('shrinks', size('1', '60'), size('1', '40'));
  assert.deepEqual(steps({}, grows, shrinks), ['shrinks cpu=1 memory=40', 'grows cpu=1 memory=60']);
});

test('a limit of the pod that is no longer wanted stays, a new one comes after the containers', () => {
  assert.deepEqual(steps({ cpuShares: 1024 }), []);
  const unlimited = { ...now, memoryLimitBytes: -1 };
  const plan = planResize(unlimited, { memoryLimitBytes: 50 }, [container('a', sizeOf({}), size('1', '50'), ['cpu'])]);
  assert.deepEqual(
    plan.map(({ kind }) => kind),
    ['container', 'pod'],
  );
});

test('what a container takes with a restart only is left to the restart', () => {
  assert.deepEqual(steps({}, container('a', size('1', '40'), size('2', '60'), ['memory'])), ['a cpu=2 memory=40']);
});

test('at no moment is a container allowed more memory than its pod, and at the end all have what they should', () => {
  const pair = fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }));
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), (pairs) => {
      const containers = pairs.map(([before, after], index) => container(String(index), size('1', String(before)), size('1', String(after))));
      const sum = (of: readonly number[]) => of.reduce((total, one) => total + one, 0);
      let pod = sum(pairs.map(([before]) => before));
      const limits = new Map(pairs.map(([before], index) => [String(index), before]));
      const target = sum(pairs.map(([, after]) => after));
      for (const action of planResize({ ...now, memoryLimitBytes: pod }, { memoryLimitBytes: target }, containers)) {
        if (action.kind === 'pod') pod = action.settings.memoryLimitBytes ?? pod;
        else limits.set(action.name, quantityToNumber(action.size.limits.memory ?? '0'));
        assert.ok(sum([...limits.values()]) <= pod, `${[...limits.values()]} in ${pod}`);
      }
      assert.deepEqual([pod, [...limits.values()]], [target, pairs.map(([, after]) => after)]);
    }),
  );
});
