import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { sandboxResources } from './sandbox-resources.ts';

const facts = { enforceCpuLimits: true, cpuPeriodUs: 100_000, cgroupVersion: 'v2', singleProcessOomKill: false } as const;

test('a sandbox is told what its containers may use together, and apart from that its own overhead', () => {
  const limits = { cpu: '500m', memory: '64Mi' };
  const containers = [aContainer({ resources: { limits, requests: limits } }), aContainer({ name: 'b', resources: { limits, requests: limits } })];
  const { resources, overhead } = sandboxResources(aPod({ spec: { containers, overhead: { cpu: '100m', memory: '10Mi' } } }), facts);
  const numbers = ({ cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes, oomScoreAdj }: typeof resources) => [
    cpuShares,
    cpuQuota,
    cpuPeriod,
    memoryLimitInBytes,
    oomScoreAdj,
  ];
  assert.deepEqual(numbers(resources), [1024, 100_000, 100_000, 128 * 2 ** 20, 0]);
  assert.deepEqual(resources.unified, { 'memory.oom.group': '1' });
  assert.deepEqual(numbers(overhead), [102, 10_000, 100_000, 10 * 2 ** 20, 0]);
});

test('without overhead nothing is said of it', () => {
  const { resources, overhead } = sandboxResources(aPod(), { ...facts, cgroupVersion: 'v1' });
  assert.deepEqual([overhead.cpuShares, overhead.cpuPeriod, overhead.memoryLimitInBytes, resources.unified], [0, 0, 0, {}]);
});
