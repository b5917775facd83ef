import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { type CgroupSettings, CgroupSettingsRefused } from '../ports/cgroups.ts';
import { createPodCgroups } from './pod-cgroups.ts';

const { signal } = new AbortController();
const options = {
  pod: { cpuPeriodUs: 100_000, enforceCpuLimits: true, podPidsLimit: 10, hugepageSizes: [] },
  limits: { cpuMilli: 2000, memoryBytes: 1 << 30, pids: 5000, hugepageSizes: [] },
  logger: silentLogger,
};
const burstable = aPod({
  metadata: { uid: 'b1' },
  spec: { containers: [aContainer({ resources: { requests: { cpu: '1' } } })] },
  status: { qosClass: 'Burstable' },
});
const bestEffort = aPod({ metadata: { uid: 'e1' } });

test('the tree, then pods in it, then nothing left of them', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, '/kubernode/a', options);
  await cgroups.prepareTree(signal);
  assert.deepEqual(host.paths, ['/kubernode', '/kubernode/a', '/kubernode/a/besteffort', '/kubernode/a/burstable']);
  assert.deepEqual(host.settings('/kubernode/a'), { cpuShares: 2048, memoryLimitBytes: 1 << 30, pidsLimit: 5000, hugepageLimits: {} });

  assert.equal(await cgroups.find('b1', signal), undefined);
  const path = await cgroups.ensure(burstable, signal);
  assert.equal(path, '/kubernode/a/burstable/podb1');
  assert.equal(await cgroups.find('b1', signal), path);
  assert.deepEqual(host.settings(path), { cpuShares: 1024, pidsLimit: 10, hugepageLimits: {} });
  await cgroups.ensure(bestEffort, signal);
  assert.deepEqual(await cgroups.orphans(new Set(['b1']), signal), ['e1']);

  await cgroups.remove('b1', signal);
  await cgroups.remove('b1', signal);
  assert.deepEqual(await cgroups.find('b1', signal), undefined);
  assert.deepEqual(await cgroups.orphans(new Set(), signal), ['e1']);
});

test('a cgroup that is there is not written again', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, '/a', options);
  const path = await cgroups.ensure(bestEffort, signal);
  await host.ensure(path, { cpuShares: 77 });
  await cgroups.ensure(bestEffort, signal);
  assert.equal(host.settings(path)?.cpuShares, 77);
});

test('the Burstable tier follows its pods', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, '/a', options);
  await cgroups.updateQos([burstable, bestEffort], signal);
  assert.equal(host.settings('/a/burstable')?.cpuShares, 1024);
  await cgroups.updateQos([], signal);
  assert.equal(host.settings('/a/burstable')?.cpuShares, 2);
});

test('a refused setting costs the limit, not the pod', async () => {
  const lines: unknown[] = [];
  class Refusing extends MemoryCgroups {
    override async ensure(path: string, settings: CgroupSettings): Promise<void> {
      await super.ensure(path, settings);
      throw new CgroupSettingsRefused({ message: 'pids.max=10: EINVAL' });
    }
  }
  const host = new Refusing();
  const logger = { ...silentLogger, warn: (...line: readonly unknown[]) => lines.push(line) };
  const path = await createPodCgroups(host, '/a', { ...options, logger }).ensure(bestEffort, signal);
  assert.equal(await host.exists(path), true);
  assert.deepEqual(lines, [['cgroup settings were refused', { cgroup: path, detail: 'pids.max=10: EINVAL' }]]);
});
