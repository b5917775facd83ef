import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { CgroupSettingsRefused, type CgroupsPort } from '#kubelet/ports/cgroups.ts';
import { type CgroupsUnderTest, cgroupsContract } from '#os/contracts/cgroups.ts';
import { parseCgroupMounts } from '#os/linux/cgroup-mounts.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { createCgroupsV2 } from '#os/linux/cgroups-v2.ts';

type TestContext = { after(undo: () => Promise<void>): void };

const { signal } = new AbortController();
const mounts = parseCgroupMounts(readFileSync('/proc/self/mounts', 'utf8'));
const cgroups = createLinuxCgroups();
let count = 0;

function rootOf(t: TestContext, of: CgroupsPort): string {
  count += 1;
  const root = `/kubernode-test-${process.pid}-${count}`;
  t.after(() => of.remove(root, signal));
  return root;
}

cgroupsContract(`linux ${cgroups.version}`, async (t): Promise<CgroupsUnderTest> => {
  const settings = [
    { cpuShares: 512, memoryLimitBytes: 64 << 20 },
    { cpuShares: 1024, pidsLimit: 50 },
  ] as const;
  return { cgroups, root: rootOf(t, cgroups), settings, countsMemory: true };
});

if (cgroups.version === 'v1' && mounts.v2 !== undefined) {
  // A hybrid host lends its v2 tree, which has few controllers, to try the other adapter.
  const v2 = createCgroupsV2(mounts.v2.root, { hasSwapController: false, hugepageSizes: [] }, systemClock);
  cgroupsContract('linux v2 tree of a hybrid host', async (t) => ({ cgroups: v2, root: rootOf(t, v2), settings: [{}, {}], countsMemory: false }));
  test('a limit that no controller can hold is refused, and the cgroup is there', async (t) => {
    const root = rootOf(t, v2);
    await assert.rejects(v2.ensure(root, { memoryLimitBytes: 1 << 20 }, signal), CgroupSettingsRefused);
    assert.deepEqual(await v2.exists(root, signal), true);
  });
}

test('settings arrive in the kernel', async (t) => {
  const root = rootOf(t, cgroups);
  await cgroups.ensure(
    `${root}/pod`,
    { cpuShares: 1024, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, memoryLimitBytes: 64 << 20, pidsLimit: 33 },
    signal,
  );
  const read = (controller: string, file: string) => {
    const hierarchy = mounts.v1.find(({ controllers }) => controllers.includes(controller)) ?? mounts.v2;
    return readFileSync(`${hierarchy?.root}${root}/pod/${file}`, 'utf8').trim();
  };
  if (cgroups.version === 'v1') {
    const files = [read('cpu', 'cpu.shares'), read('cpu', 'cpu.cfs_quota_us'), read('memory', 'memory.limit_in_bytes'), read('pids', 'pids.max')];
    assert.deepEqual(files, ['1024', '50000', '67108864', '33']);
    assert.equal(
      read('cpuset', 'cpuset.cpus'),
      readFileSync(`${mounts.v1.find(({ controllers }) => controllers.includes('cpuset'))?.root}/cpuset.cpus`, 'utf8').trim(),
    );
  } else {
    assert.deepEqual(
      [read('', 'cpu.weight'), read('', 'cpu.max'), read('', 'memory.max'), read('', 'pids.max')],
      ['39', '50000 100000', '67108864', '33'],
    );
  }
});

test('removing kills what still runs there, also in cgroups that somebody else made below', async (t) => {
  const root = rootOf(t, cgroups);
  await cgroups.ensure(`${root}/pod/container`, {}, signal);
  const sleeper = spawn('sleep', ['300'], { stdio: 'ignore' });
  const exited = once(sleeper, 'exit');
  for (const hierarchy of cgroups.version === 'v1' ? mounts.v1 : [mounts.v2]) {
    writeFileSync(`${hierarchy?.root}${root}/pod/container/cgroup.procs`, String(sleeper.pid));
  }
  await cgroups.remove(`${root}/pod`, signal);
  const [, killedBy] = await exited;
  assert.equal(killedBy, 'SIGKILL');
  for (const hierarchy of [...mounts.v1, mounts.v2]) assert.equal(existsSync(`${hierarchy?.root}${root}/pod`), false);
});
