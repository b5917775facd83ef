import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupOfProcess } from './usage.ts';

test('the cgroup of a process is that of its memory, and the root is none', () => {
  const hybrid = '12:pids:/a\n7:memory:/system.slice/kubelet.service\n4:cpu,cpuacct:/c\n0::/d\n';
  assert.equal(cgroupOfProcess(hybrid, 'v1'), '/system.slice/kubelet.service');
  assert.equal(cgroupOfProcess('3:hugetlb,memory,pids:/b\n', 'v1'), '/b');
  assert.equal(cgroupOfProcess('0::/user.slice/x.scope\n', 'v2'), '/user.slice/x.scope');
  assert.equal(cgroupOfProcess('7:memory:/\n0::/\n', 'v1'), undefined);
  assert.equal(cgroupOfProcess('0::/\n', 'v2'), undefined);
});
