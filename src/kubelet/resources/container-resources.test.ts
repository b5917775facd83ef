import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { type ContainerResourceFacts, containerResources } from './container-resources.ts';
import { oomScoreAdj } from './oom-score.ts';
import { someCgroupOptions } from './testing/cgroup-options.ts';

const facts: ContainerResourceFacts = {
  cpuPeriodUs: 100_000,
  enforceCpuLimits: true,
  hugepageSizes: [],
  cgroupVersion: 'v1',
  memoryCapacityBytes: 1000,
  hasSwapController: false,
  singleProcessOomKill: true,
  memoryAllocatableBytes: 900,
  swapCapacityBytes: 500,
  limitedSwap: false,
  throttlingFactor: 0.9,
  protectMemory: false,
  throttlesMemory: false,
};
const nothing = { cpusetCpus: '', cpusetMems: '', hugepageLimits: [], unified: {}, memorySwapLimitInBytes: 0 };

function burstable(memory: string, rest: Pod['spec'] | object = {}): Pod {
  const container = aContainer({ resources: memory === '' ? {} : { requests: { memory } } });
  return aPod({ spec: { containers: [container], ...rest }, status: { qosClass: 'Burstable' } });
}

test('a container without wishes gets the smallest weight and no limit', () => {
  assert.deepEqual(containerResources(aPod(), aContainer(), facts), {
    ...nothing,
    cpuShares: 2,
    cpuQuota: 0,
    cpuPeriod: 100_000,
    memoryLimitInBytes: 0,
    oomScoreAdj: 1000,
  });
});

test('a limit is also the request where that is missing; a request of zero is one', () => {
  const limits = { cpu: '500m', memory: '100', 'hugepages-2Mi': '2Mi' };
  const pod = aPod({ status: { qosClass: 'Guaranteed' } });
  const limited = containerResources(pod, aContainer({ resources: { limits } }), { ...facts, hugepageSizes: ['1GB', '2MB'] });
  assert.deepEqual(limited, {
    ...nothing,
    cpuShares: 512,
    cpuQuota: 50_000,
    cpuPeriod: 100_000,
    memoryLimitInBytes: 100,
    oomScoreAdj: -997,
    hugepageLimits: [
      { pageSize: '1GB', limit: 0 },
      { pageSize: '2MB', limit: 2_097_152 },
    ],
  });
  assert.equal(containerResources(pod, aContainer({ resources: { limits, requests: { cpu: '0' } } }), facts).cpuShares, 2);
});

test('without CPU enforcement neither quota nor period is sent', () => {
  const { cpuQuota, cpuPeriod } = containerResources(aPod(), aContainer({ resources: { limits: { cpu: '1' } } }), {
    ...facts,
    enforceCpuLimits: false,
  });
  assert.deepEqual([cpuQuota, cpuPeriod], [0, 0]);
});

test('swap is shut off in the way of the cgroup version, and v2 kills a container as a whole', () => {
  const container = aContainer({ resources: { limits: { memory: '64' } } });
  const v2 = { ...facts, cgroupVersion: 'v2', hasSwapController: true, singleProcessOomKill: false } as const;
  assert.deepEqual(containerResources(aPod(), container, v2).unified, { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  assert.equal(containerResources(aPod(), container, { ...facts, hasSwapController: true }).memorySwapLimitInBytes, 64);
});

test('a pod-level limit holds a container that has none', () => {
  const pod = aPod({ spec: { resources: { limits: { cpu: '2', memory: '500' } } } });
  const { cpuQuota, memoryLimitInBytes } = containerResources(pod, aContainer({ resources: { limits: { memory: '9' } } }), facts);
  assert.deepEqual([cpuQuota, memoryLimitInBytes], [200_000, 9]);
});

test('oom scores by class and by share of the memory', () => {
  const score = (pod: Pod) => oomScoreAdj(pod, pod.spec?.containers[0] ?? aContainer(), 1000);
  const table: readonly (readonly [string, Pod, number])[] = [
    ['BestEffort', aPod(), 1000],
    ['Guaranteed', aPod({ status: { qosClass: 'Guaranteed' } }), -997],
    ['half of the memory', burstable('500'), 500],
    ['no request is still below BestEffort', burstable(''), 999],
    ['all of the memory stays above Guaranteed', burstable('1000'), 3],
    ['node-critical', burstable('500', { priority: 2_000_001_000, priorityClassName: 'system-node-critical' }), -997],
    ['the class name alone is not enough', burstable('500', { priorityClassName: 'system-node-critical' }), 500],
    ['cluster-critical follows its class', burstable('500', { priority: 2_000_000_000, priorityClassName: 'system-cluster-critical' }), 500],
    ['what the pod asks beyond its containers counts', burstable('500', { resources: { requests: { memory: '700' } } }), 300],
  ];
  for (const [what, pod, expected] of table) assert.equal(score(pod), expected, what);
});

test('a sidecar is killed no earlier than the containers that it serves', () => {
  const sidecar = aContainer({ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '100' } } });
  const plain = aContainer({ name: 'init', resources: { requests: { memory: '100' } } });
  const pod = burstable('500', { initContainers: [sidecar, plain] });
  assert.deepEqual([oomScoreAdj(pod, sidecar, 1000), oomScoreAdj(pod, plain, 1000)], [500, 900]);
});

const v2 = { ...facts, cgroupVersion: 'v2', hasSwapController: true, singleProcessOomKill: false } as const;

test('swap is shared out to Burstable pods by what they asked for, where that is wanted', () => {
  const swapOf = (pod: Pod, limitedSwap: boolean) =>
    containerResources(pod, pod.spec?.containers[0] ?? aContainer(), { ...v2, limitedSwap }).unified['memory.swap.max'];
  assert.deepEqual([swapOf(burstable('100'), true), swapOf(burstable('100'), false), swapOf(burstable(''), true)], ['50', '0', '0']);
  assert.equal(swapOf(burstable('100', { priority: 2_000_000_000 }), true), '0');
  const even = aContainer({ resources: { requests: { memory: '100' }, limits: { memory: '100' } } });
  assert.equal(swapOf(aPod({ spec: { containers: [even] }, status: { qosClass: 'Burstable' } }), true), '0');
});

test('memory that was asked for is protected, and use above it is slowed down, only where that is wanted', () => {
  const unified = (memory: string, limit: string | undefined, configuration: Readonly<Record<string, unknown>>) => {
    const resources = { requests: { memory }, ...(limit === undefined ? {} : { limits: { memory: limit } }) };
    const container = aContainer({ resources });
    const { protectMemory, throttlesMemory } = someCgroupOptions(configuration, {}, { version: 'v2' }).container;
    const facts = { ...v2, protectMemory, throttlesMemory, memoryAllocatableBytes: 2 ** 30 };
    return containerResources(aPod({ spec: { containers: [container] }, status: { qosClass: 'Burstable' } }), container, facts).unified;
  };
  const base = { 'memory.oom.group': '1', 'memory.swap.max': '0' };
  const tiered = { memoryReservationPolicy: 'TieredReservation' };
  assert.deepEqual(unified('100Mi', '200Mi', {}), base);
  assert.deepEqual(unified('100Mi', '200Mi', { featureGates: { MemoryQoS: true } }), { ...base, 'memory.high': '199229440' });
  // 100Mi + 0.9 x 100Mi, in whole pages
  assert.deepEqual(unified('100Mi', '200Mi', tiered), { ...base, 'memory.low': '104857600', 'memory.high': '199229440' });
  assert.deepEqual(unified('100Mi', '100Mi', tiered), { ...base, 'memory.low': '104857600' });
  assert.deepEqual(unified('0', undefined, tiered), base);
});
