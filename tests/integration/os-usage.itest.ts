import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { usageContract } from '#os/contracts/usage.ts';
import { parseCgroupMounts } from '#os/linux/cgroup-mounts.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { createLinuxUsage } from '#os/linux/usage.ts';

type TestContext = { after(undo: () => Promise<void>): void };

const { signal } = new AbortController();
const cgroups = createLinuxCgroups();
const usage = createLinuxUsage();
const mounts = parseCgroupMounts(readFileSync('/proc/self/mounts', 'utf8'));
let count = 0;

/** A process that has written 16 MiB of memory, in a cgroup of its own. */
async function aBusyCgroup(t: TestContext): Promise<{ readonly parent: string; readonly name: string }> {
  count += 1;
  const parent = `/kubernode-usage-${process.pid}-${count}`;
  await cgroups.ensure(`${parent}/child`, {}, signal);
  t.after(() => cgroups.remove(parent, signal));
  const script = 'const held = Buffer.alloc(16 << 20, 1); process.stdout.write("held"); process.stdin.on("data", () => held.fill(2)); ';
  const child = spawn('/bin/sh', ['-c', `read line; exec ${process.execPath} -e '${script}'`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const roots = mounts.v1.length > 0 ? mounts.v1 : [mounts.v2];
  for (const tree of roots) writeFileSync(`${tree?.root}${parent}/child/cgroup.procs`, String(child.pid));
  child.stdin.write('go\n');
  await once(child.stdout, 'data');
  return { parent, name: 'child' };
}

function aDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubernode-usage-'));
  t.after(async () => rmSync(directory, { recursive: true }));
  writeFileSync(`${directory}/file`, Buffer.alloc(1 << 20, 1));
  mkdirSync(`${directory}/below`);
  linkSync(`${directory}/file`, `${directory}/below/same`);
  return directory;
}

usageContract('linux', async (t) => ({ usage, cgroup: await aBusyCgroup(t), directory: aDirectory(t) }));

test('another file system below a directory does not count', async (t) => {
  const before = await usage.directory('/dev', signal);
  const directory = mkdtempSync('/dev/shm/kubernode-usage-');
  t.after(async () => rmSync(directory, { recursive: true }));
  writeFileSync(`${directory}/file`, Buffer.alloc(32 << 20, 1));
  const after = await usage.directory('/dev', signal);
  assert.ok((after?.bytes ?? 0) - (before?.bytes ?? 0) < 16 << 20, `${before?.bytes} bytes became ${after?.bytes}`);
  assert.ok(((await usage.directory(directory, signal))?.bytes ?? 0) >= 32 << 20);
});

test("a process' network is that of its cgroup", async (t) => {
  const { parent } = await aBusyCgroup(t);
  const names = (await usage.network(parent, signal)).map(({ name }) => name);
  assert.deepEqual(
    names,
    (await usage.network(undefined, signal)).map(({ name }) => name),
  );
  assert.ok(!names.includes('lo'));
});

test('a limit is told, and none is none', async (t) => {
  const root = `/kubernode-usage-${process.pid}-limit`;
  t.after(() => cgroups.remove(root, signal));
  await cgroups.ensure(root, {}, signal);
  assert.equal((await usage.cgroup(root, signal))?.memory.limitBytes, undefined);
  await cgroups.ensure(root, { memoryLimitBytes: 64 << 20, cpuShares: 512, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, pidsLimit: 33 }, signal);
  const limited = await usage.cgroup(root, signal);
  const { memory, cpu, threadsLimit } = limited ?? {};
  assert.deepEqual([memory?.limitBytes, cpu?.quotaUs, cpu?.periodUs, threadsLimit], [64 << 20, 50_000, 100_000, 33]);
});
