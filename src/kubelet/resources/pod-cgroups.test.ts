import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { type CgroupSettings, CgroupSettingsRefused } from '../ports/cgroups.ts';
import { createPodCgroups } from './pod-cgroups.ts';
import { somePodCgroupsOptions } from './testing/cgroup-options.ts';

const { signal } = new AbortController();
const configuration = { podPidsLimit: 10, systemReserved: { cpu: '2', memory: '7Gi', pid: '768' } };
const options = somePodCgroupsOptions('/kubernode/a', { configuration });
const burstable = aPod({
  metadata: { uid: 'b1' },
  spec: { containers: [aContainer({ resources: { requests: { cpu: '1' } } })] },
  status: { qosClass: 'Burstable' },
});
const bestEffort = aPod({ metadata: { uid: 'e1' } });

test('the tree, then pods in it, then nothing left of them', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, options);
  await cgroups.prepareTree(signal);
  assert.deepEqual(host.paths, ['/kubernode', '/kubernode/a', '/kubernode/a/besteffort', '/kubernode/a/burstable']);
  assert.deepEqual(host.settings('/kubernode/a'), { cpuShares: 2048, memoryLimitBytes: 1 << 30, pidsLimit: 32_000, hugepageLimits: {} });

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

test('subtle 40: a pod that nobody knows keeps its cgroup until its volumes are gone, but no more than the least weight', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/a'));
  const other = { ...burstable, metadata: { ...burstable.metadata, uid: 'b2' } };
  const [orphan, known] = [await cgroups.ensure(burstable, signal), await cgroups.ensure(other, signal)];
  assert.deepEqual(await cgroups.orphans(new Set(['b2']), signal), ['b1']);
  assert.deepEqual([host.settings(orphan)?.cpuShares, host.settings(known)?.cpuShares], [2, 1024]);
});

test('a cgroup that is there is not written again', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/a'));
  const path = await cgroups.ensure(bestEffort, signal);
  await host.ensure(path, { cpuShares: 77 });
  await cgroups.ensure(bestEffort, signal);
  assert.equal(host.settings(path)?.cpuShares, 77);
});

test('the Burstable tier follows its pods', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/a'));
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
  const path = await createPodCgroups(host, { ...somePodCgroupsOptions('/a'), logger }).ensure(bestEffort, signal);
  assert.equal(await host.exists(path), true);
  assert.deepEqual(lines, [['cgroup settings were refused', { cgroup: path, detail: 'pids.max=10: EINVAL' }]]);
});

test('pods without cgroups of their own have none to make, find or lose', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/a', { configuration: { cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] } }));
  await cgroups.prepareTree(signal);
  assert.equal(await cgroups.ensure(burstable, signal), '');
  await cgroups.updateQos([burstable], signal);
  await cgroups.remove('b1', signal);
  assert.deepEqual(host.paths, []);
});

test('daemons are held to what is reserved for them, in a cgroup that must be there', async () => {
  const told: string[] = [];
  const daemons = { kubeReserved: { cpu: '1', memory: '1Gi' }, kubeReservedCgroup: '/daemons', enforceNodeAllocatable: ['pods', 'kube-reserved'] };
  const cgroups = (host: MemoryCgroups) => createPodCgroups(host, somePodCgroupsOptions('/a', { configuration: daemons, told }));
  const host = new MemoryCgroups();
  await assert.rejects(cgroups(host).prepareTree(signal), { code: 'INVALID_INPUT' });
  await host.ensure('/daemons', {});
  await cgroups(host).prepareTree(signal);
  assert.deepEqual(host.settings('/daemons'), { cpuShares: 1024, memoryLimitBytes: 1 << 30, hugepageLimits: {} });
  const enforced = 'Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods';
  assert.deepEqual(told, [
    enforced,
    'Warning FailedNodeAllocatableEnforcement Failed to enforce Kube Reserved Cgroup Limits on "/daemons": cgroup "/daemons" has some missing paths: /daemons',
    enforced,
    'Normal NodeAllocatableEnforced Updated limits on kube reserved cgroup /daemons',
  ]);
});

test('the limit of all pods is tried again each minute until the kernel takes it, each time with an event', async () => {
  const told: string[] = [];
  class Full extends MemoryCgroups {
    isFull = true;
    override async ensure(path: string, settings: CgroupSettings): Promise<void> {
      await super.ensure(path, settings);
      if (this.isFull && settings.memoryLimitBytes !== undefined) throw new CgroupSettingsRefused({ message: 'memory.max: EBUSY' });
    }
  }
  const host = new Full();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/kubepods', { told }));
  await cgroups.prepareTree(signal);
  await cgroups.refresh([], signal);
  host.isFull = false;
  for (let minute = 0; minute < 2; minute += 1) await cgroups.refresh([], signal);
  const failed = 'Warning FailedNodeAllocatableEnforcement Failed to update Node Allocatable Limits ["kubepods"]: memory.max: EBUSY';
  assert.deepEqual(told, [failed, failed, 'Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods']);
});

test('each minute the tiers are written anew, whatever somebody else has written meanwhile', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/a'));
  await cgroups.updateQos([burstable], signal);
  for (const tier of ['/a/burstable', '/a/besteffort']) await host.ensure(tier, { cpuShares: 77 });
  await cgroups.updateQos([burstable], signal);
  assert.equal(host.settings('/a/burstable')?.cpuShares, 77, 'between the minutes only what pods change is written');
  await cgroups.refresh([burstable], signal);
  assert.deepEqual([host.settings('/a/burstable')?.cpuShares, host.settings('/a/besteffort')?.cpuShares], [1024, 2]);
});

test('with systemd the same pods live in slices', async () => {
  const host = new MemoryCgroups();
  const cgroups = createPodCgroups(host, somePodCgroupsOptions('/kubepods', { driver: 'systemd' }));
  await cgroups.prepareTree(signal);
  const path = await cgroups.ensure(burstable, signal);
  assert.equal(path, '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podb1.slice');
  assert.equal(await cgroups.find('b1', signal), path);
  assert.deepEqual(await cgroups.orphans(new Set(), signal), ['b1']);
});
