import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { filesContract } from '#os/contracts/files.ts';
import { mounterContract } from '#os/contracts/mounter.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { commandMountCalls } from '#os/linux/mount-calls-command.ts';
import { koffiMountCalls } from '#os/linux/mount-calls-koffi.ts';
import { createMounter } from '#os/linux/mounter.ts';

// The tests mount: they run in a child with a mount namespace of its own, so that nothing can stay on the host.
const INSIDE = 'inside';

if (process.argv[2] === INSIDE) {
  for (const [name, mounter] of [
    ['linux, system calls', createMounter(await koffiMountCalls())],
    ['linux, mount(8)', createMounter(commandMountCalls())],
  ] as const) {
    const open = async (t: { after(undo: () => Promise<void>): void }) => {
      const dir = realpathSync(mkdtempSync(join(tmpdir(), 'kubernode-os-')));
      t.after(async () => {
        const { signal } = new AbortController();
        for (const { target } of await mounter.listBelow(dir, signal)) await mounter.unmount(target, signal);
        rmSync(dir, { recursive: true });
      });
      return { files: createLinuxFiles(), mounter, dir };
    };
    filesContract(name, open);
    mounterContract(name, open);
  }

  test('linux: a tree that is deeper than a path can say is removed', async (t) => {
    const files = createLinuxFiles();
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'kubernode-os-')));
    const home = process.cwd();
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    process.chdir(dir);
    for (let depth = 0; depth < 40; depth += 1) {
      mkdirSync('d'.repeat(200));
      process.chdir('d'.repeat(200));
      writeFileSync('file', '');
    }
    process.chdir(home);
    await files.removeTree(dir, new AbortController().signal);
    assert.equal(existsSync(dir), false);
  });
} else {
  test('files and mounts of Linux, in a mount namespace of their own', { timeout: 60_000 }, () => {
    const script = fileURLToPath(import.meta.url);
    const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const child = spawnSync('unshare', ['-m', process.execPath, '--import', 'tsx', script, INSIDE], { encoding: 'utf8', env: environment });
    assert.equal(child.status, 0, `${child.stdout}\n${child.stderr}`);
    assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), /kubernode-os-/); // others may mount what they like meanwhile
  });
}
