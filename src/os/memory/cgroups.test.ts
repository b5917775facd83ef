import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupsContract } from '#os/contracts/cgroups.ts';
import { MemoryCgroups } from './cgroups.ts';

cgroupsContract('memory', async () => ({
  cgroups: new MemoryCgroups(),
  root: '/test',
  settings: [{ cpuShares: 512 }, { cpuShares: 1024 }],
  countsMemory: true,
}));

test('a value that is not given is left as it was', async () => {
  const cgroups = new MemoryCgroups();
  await cgroups.ensure('/a', { cpuShares: 2, pidsLimit: 10 });
  await cgroups.ensure('/a', { cpuShares: 512, pidsLimit: undefined });
  assert.deepEqual(cgroups.settings('/a'), { cpuShares: 512, pidsLimit: 10 });
});
