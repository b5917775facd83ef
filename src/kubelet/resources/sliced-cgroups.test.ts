import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { sliceProperties } from './slice-properties.ts';
import { slicedCgroups } from './sliced-cgroups.ts';

const { signal } = new AbortController();
const infinity = 2n ** 64n - 1n;

test('limits are systemd’s properties, by the version of the kernel’s cgroups', () => {
  const settings = { cpuShares: 1024, cpuQuotaUs: 1500, cpuPeriodUs: 100_000, memoryLimitBytes: 1 << 20, pidsLimit: 0, hugepageLimits: { '2MB': 0 } };
  assert.deepEqual(sliceProperties({ ...settings, unified: { 'memory.min': '4096' } }, 'v2'), {
    CPUWeight: 39n,
    CPUQuotaPerSecUSec: 20_000n, // 1.5 % is 2 % to systemd
    CPUQuotaPeriodUSec: 100_000n,
    MemoryMax: 1n << 20n,
    TasksMax: 1n,
    MemoryMin: 4096n,
  });
  assert.deepEqual(sliceProperties({ cpuShares: 2, cpuQuotaUs: -1, memoryLimitBytes: -1, pidsLimit: -1 }, 'v1'), {
    CPUShares: 2n,
    CPUQuotaPerSecUSec: infinity,
    MemoryLimit: infinity,
    TasksMax: infinity,
  });
  assert.deepEqual(sliceProperties({}, 'v2'), {});
});

test('a slice is a unit of systemd’s, and those above it that are missing too; what is no slice is not', async () => {
  const host = new MemoryCgroups();
  const told: string[] = [];
  const cgroups = slicedCgroups(host, {
    isThere: async () => true,
    ensure: async (name, properties) => void told.push(`${name} ${Object.keys(properties).join(' ')}`.trim()),
    stop: async (name) => void told.push(`${name} stopped`),
  });
  const pod = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice';
  await cgroups.ensure(pod, { cpuShares: 2 }, signal);
  await cgroups.ensure(pod, { memoryLimitBytes: 1 }, signal);
  await cgroups.remove(pod, signal);
  await cgroups.ensure('/plain', { cpuShares: 2 }, signal);
  await cgroups.remove('/plain', signal);
  assert.deepEqual(told, [
    'kubepods.slice',
    'kubepods-burstable.slice',
    'kubepods-burstable-podu1.slice CPUShares',
    'kubepods-burstable-podu1.slice MemoryLimit',
    'kubepods-burstable-podu1.slice stopped',
  ]);
  assert.deepEqual(host.paths, ['/kubepods.slice', '/kubepods.slice/kubepods-burstable.slice']);
});
