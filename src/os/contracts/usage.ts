import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsagePort } from '#kubelet/ports/usage.ts';

export interface UsageUnderTest {
  readonly usage: UsagePort;
  /** A cgroup with a process and 16 MiB of memory in use, whose parent has no other child. */
  readonly cgroup: { readonly parent: string; readonly name: string };
  /** A directory with a file of 1 MiB, which has a second name in a directory below, and nothing else: four names, three inodes. */
  readonly directory: string;
}

const mebibyte = 2 ** 20;

/** What everybody who implements `UsagePort` must do. */
export function usageContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<UsageUnderTest>): void {
  const { signal } = new AbortController();

  test(`${name}: a cgroup tells its CPU time, memory and processes, and so does its parent`, async (t) => {
    const { usage, cgroup } = await open(t);
    for (const path of [cgroup.parent, `${cgroup.parent}/${cgroup.name}`]) {
      const found = await usage.cgroup(path, signal);
      assert.ok(found !== undefined, path);
      assert.ok((found.memory.usageBytes ?? 0) >= 16 * mebibyte, `${path}: ${found.memory.usageBytes} bytes`);
      assert.ok((found.memory.usageBytes ?? 0) < 500 * mebibyte, `${path}: ${found.memory.usageBytes} bytes`);
      assert.ok((found.cpu.totalNanos ?? 0) > 0, path);
      assert.equal(found.processes, 1);
    }
  });

  test(`${name}: the root tells what the host uses and has no limit`, async (t) => {
    const { usage } = await open(t);
    const [root, host] = [await usage.cgroup('/', signal), await usage.host(signal)];
    assert.ok((root?.memory.usageBytes ?? 0) > 16 * mebibyte);
    assert.ok((root?.memory.usageBytes ?? 0) < host.memoryBytes);
    assert.deepEqual([root?.memory.limitBytes, root?.startedAtMs], [undefined, host.bootedAtMs]);
    assert.ok(host.tasks > 0 && host.tasks < host.maxTasks);
  });

  test(`${name}: the process has a cgroup that is there, or is in the root`, async (t) => {
    const { usage } = await open(t);
    const own = await usage.ownCgroup();
    assert.notEqual(own, '/');
    if (own !== undefined) assert.ok(((await usage.cgroup(own, signal))?.memory.usageBytes ?? 0) > 0, own);
  });

  test(`${name}: children are named`, async (t) => {
    const { usage, cgroup } = await open(t);
    assert.deepEqual(await usage.cgroupChildren(cgroup.parent, signal), [cgroup.name]);
    assert.deepEqual(await usage.cgroupChildren(`${cgroup.parent}/${cgroup.name}`, signal), []);
  });

  test(`${name}: what is not there is undefined or empty`, async (t) => {
    const { usage, cgroup } = await open(t);
    const none = `${cgroup.parent}/none`;
    assert.equal(await usage.cgroup(none, signal), undefined);
    assert.deepEqual(await usage.cgroupChildren(none, signal), []);
    assert.deepEqual(await usage.network(none, signal), []);
    assert.deepEqual(await usage.disks(none, signal), []);
    assert.equal(await usage.directory('/no/such/directory', signal), undefined);
  });

  test(`${name}: a file with two names counts once`, async (t) => {
    const { usage, directory } = await open(t);
    const found = await usage.directory(directory, signal);
    assert.equal(found?.inodes, 3);
    assert.ok((found?.bytes ?? 0) >= mebibyte && (found?.bytes ?? 0) < 1.5 * mebibyte, `${found?.bytes} bytes`);
  });

  test(`${name}: a file system has room`, async (t) => {
    const { usage, directory } = await open(t);
    const room = await usage.filesystem(directory, signal);
    assert.ok(room !== undefined && room.capacityBytes >= room.freeBytes && room.freeBytes >= room.availableBytes && room.availableBytes > 0);
  });
}
