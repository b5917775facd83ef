import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuWeight } from '#kubelet/ports/cgroups.ts';
import { parseCgroupMounts } from './cgroup-mounts.ts';
import { checkedPath } from './cgroup-tree.ts';
import { filesV1 } from './cgroups-v1.ts';
import { filesV2, limitsV2 } from './cgroups-v2.ts';

test('mounted hierarchies are found, the shortest mount of each, on a hybrid host the v2 one too', () => {
  const text = [
    'tmpfs /sys/fs/cgroup tmpfs rw 0 0',
    'cgroup /mnt/second/mount/cpu cgroup rw,cpu,cpuacct 0 0',
    'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0',
    'cgroup /sys/fs/cgroup/cpu cgroup rw,cpuacct,cpu 0 0',
    'cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd 0 0',
    'cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nsdelegate 0 0',
  ].join('\n');
  assert.deepEqual(parseCgroupMounts(text), {
    v1: [
      { root: '/sys/fs/cgroup/cpu', controllers: ['cpu', 'cpuacct'] },
      { root: '/sys/fs/cgroup/systemd', controllers: ['systemd'] },
    ],
    v2: { root: '/sys/fs/cgroup/unified', controllers: [] },
  });
});

test('only paths below the root are touched', () => {
  assert.equal(checkedPath('/kubernode/a..b/pod.1'), '/kubernode/a..b/pod.1');
  for (const path of ['', '/', 'a', '/a/', '/a//b', '/a/../b', '/..', '/a/.'])
    assert.throws(() => checkedPath(path), { code: 'INVALID_INPUT' }, path);
});

test('settings become files of v1, the period before the quota', () => {
  const files = filesV1({ cpuShares: 512, cpuQuotaUs: -1, cpuPeriodUs: 100_000, memoryLimitBytes: -1, pidsLimit: 0, hugepageLimits: { '2MB': 0 } });
  assert.deepEqual(files, [
    ['cpu', 'cpu.shares', '512'],
    ['cpu', 'cpu.cfs_period_us', '100000'],
    ['cpu', 'cpu.cfs_quota_us', '-1'],
    ['memory', 'memory.limit_in_bytes', '-1'],
    ['pids', 'pids.max', '1'],
    ['hugetlb', 'hugetlb.2MB.limit_in_bytes', '0'],
  ]);
  assert.deepEqual(filesV1({ unified: { 'memory.min': '1' } }), []);
});

test('settings become files of v2', () => {
  const files = filesV2({
    cpuShares: 1024,
    cpuQuotaUs: 50_000,
    memoryLimitBytes: 1024,
    pidsLimit: -1,
    hugepageLimits: { '2MB': 0 },
    unified: { 'memory.min': '7' },
  });
  assert.deepEqual(files, [
    ['cpu.weight', '39'],
    ['cpu.max', '50000 100000'],
    ['memory.max', '1024'],
    ['pids.max', 'max'],
    ['hugetlb.2MB.max', '0'],
    ['memory.min', '7'],
  ]);
  assert.deepEqual(filesV2({ cpuQuotaUs: -1, cpuPeriodUs: 10_000, memoryLimitBytes: -1 }), [
    ['cpu.max', 'max 10000'],
    ['memory.max', 'max'],
  ]);
  assert.deepEqual(filesV2({}), []);
});

test('what the files of v2 say is read, the weight as the shares that it stands for', () => {
  assert.deepEqual(limitsV2('39', '50000 100000', '1024'), { cpuShares: 998, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, memoryLimitBytes: 1024 });
  assert.deepEqual(limitsV2('1', 'max 10000', 'max'), { cpuShares: 2, cpuQuotaUs: -1, cpuPeriodUs: 10_000, memoryLimitBytes: -1 });
});

test('subtle 13: shares become weights linearly, 1024 of them 39', () => {
  assert.deepEqual([0, 2, 1024, 262_143, 262_144, 999_999].map(cpuWeight), [1, 1, 39, 9999, 10_000, 10_000]);
});
