import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CgroupSettings, CgroupsPort } from '#kubelet/ports/cgroups.ts';

export interface CgroupsUnderTest {
  readonly cgroups: CgroupsPort;
  /** A cgroup of this test alone, not there yet. */
  readonly root: string;
  /** Two that this host takes, one after the other. */
  readonly settings: readonly [CgroupSettings, CgroupSettings];
  /** What the kernel counts: a tree without the memory controller counts none. */
  readonly countsMemory: boolean;
}

/** What everybody who implements `CgroupsPort` must do. */
export function cgroupsContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<CgroupsUnderTest>): void {
  const { signal } = new AbortController();

  test(`${name}: a cgroup and its parents are made, twice is once`, async (t) => {
    const { cgroups, root, settings } = await open(t);
    const path = `${root}/burstable/pod1`;
    assert.equal(await cgroups.exists(path, signal), false);
    assert.match(
      (await cgroups.lack(path, signal)) ?? '',
      /^(cgroup ".*" has some missing (paths|controllers): |could not read controllers for cgroup ".*": )/,
    );
    await cgroups.ensure(path, settings[0], signal);
    await cgroups.ensure(path, settings[1], signal);
    assert.deepEqual([await cgroups.exists(path, signal), await cgroups.exists(`${root}/burstable`, signal)], [true, true]);
    assert.equal(await cgroups.lack(path, signal), undefined);
    assert.deepEqual(await cgroups.children(root, signal), ['burstable']);
    assert.deepEqual(await cgroups.children(path, signal), []);
  });

  test(`${name}: removing takes all below and is no error when nothing is there`, async (t) => {
    const { cgroups, root } = await open(t);
    await cgroups.ensure(`${root}/a/b/c`, {}, signal);
    await cgroups.ensure(`${root}/ab`, {}, signal);
    await cgroups.remove(`${root}/a`, signal);
    await cgroups.remove(`${root}/a`, signal);
    assert.equal(await cgroups.exists(`${root}/a`, signal), false);
    assert.deepEqual(await cgroups.children(root, signal), ['ab']);
  });

  test(`${name}: what was written is read back, nothing of a cgroup that is not there`, async (t) => {
    const { cgroups, root, settings, countsMemory } = await open(t);
    await cgroups.ensure(root, { ...settings[0], ...(countsMemory ? { cpuQuotaUs: 50_000, cpuPeriodUs: 100_000 } : {}) }, signal);
    const limits = await cgroups.read(root, signal);
    const { cpuShares, memoryLimitBytes = -1 } = settings[0];
    assert.deepEqual(limits, countsMemory ? { cpuShares, memoryLimitBytes, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000 } : undefined);
    if (countsMemory) {
      await cgroups.ensure(`${root}/free`, { cpuQuotaUs: -1 }, signal);
      const free = await cgroups.read(`${root}/free`, signal);
      assert.deepEqual([free?.cpuQuotaUs, free?.memoryLimitBytes], [-1, -1]);
    }
    assert.equal(await cgroups.read(`${root}/none`, signal), undefined);
  });

  test(`${name}: memory use is a number, undefined for a cgroup that is not there`, async (t) => {
    const { cgroups, root, countsMemory } = await open(t);
    await cgroups.ensure(root, {}, signal);
    assert.equal(typeof (await cgroups.memoryUsageBytes(root, signal)), countsMemory ? 'number' : 'undefined');
    assert.equal(await cgroups.memoryUsageBytes(`${root}/none`, signal), undefined);
    assert.deepEqual(await cgroups.children(`${root}/none`, signal), []);
  });
}
