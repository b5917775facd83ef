import type { CgroupUsage } from '#kubelet/ports/usage.ts';
import { usageContract } from '#os/contracts/usage.ts';
import { MemoryUsage } from './usage.ts';

const mebibyte = 2 ** 20;

usageContract('memory', async () => {
  const usage = new MemoryUsage();
  const memory = { usageBytes: 20 * mebibyte } as CgroupUsage['memory']; // what the contract looks at
  const cpu = { totalNanos: 5 } as CgroupUsage['cpu'];
  const used: CgroupUsage = { startedAtMs: 0, cpu, memory, processes: 1, threads: 1, threadsLimit: undefined, pressure: noPressure };
  for (const path of ['/', '/parent', '/parent/child']) usage.cgroups.set(path, used);
  usage.directories.set('/directory', { bytes: 1.1 * mebibyte, inodes: 3 });
  return { usage, cgroup: { parent: '/parent', name: 'child' }, directory: '/directory' };
});

const noPressure = { cpu: undefined, memory: undefined, io: undefined };
