import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import type { FilesPort } from '../ports/files.ts';
import { HostRefused } from '../ports/host-errors.ts';
import { giveToGroup } from './ownership.ts';

const { signal } = new AbortController();

async function aTree(): Promise<FilesPort> {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/v/dir', 0o700, signal);
  await files.write('/v/dir/file', '', 0o600, signal);
  await files.write('/outside', '', 0o600, signal);
  await files.link('/outside', '/v/link', signal);
  return files;
}

async function facts(files: FilesPort): Promise<readonly string[]> {
  const paths = ['/v', '/v/dir', '/v/dir/file', '/v/link', '/outside'];
  return Promise.all(
    paths.map(async (path) => {
      const { gid, mode = 0 } = (await files.stat(path, signal)) ?? {};
      return `${path} ${gid} ${mode.toString(8)}`;
    }),
  );
}

test('a writable tree is given to the group with all that is in it, and nothing behind a link', async () => {
  const files = await aTree();
  await giveToGroup(files, '/v', { groupId: 9, readOnly: false, logger: silentLogger }, signal);
  assert.deepEqual(await facts(files), ['/v 9 2770', '/v/dir 9 2770', '/v/dir/file 9 660', '/v/link 9 777', '/outside 0 600']);
});

test('a tree that is only read gets no right to write', async () => {
  const files = await aTree();
  await giveToGroup(files, '/v', { groupId: 9, readOnly: true, logger: silentLogger }, signal);
  assert.deepEqual((await facts(files)).slice(0, 3), ['/v 9 2750', '/v/dir 9 2750', '/v/dir/file 9 640']);
});

test('the root comes last, and an entry that refuses is left and told', async () => {
  const files = await aTree();
  const order: string[] = [];
  const warned: unknown[] = [];
  const stubborn: FilesPort = {
    ...files,
    async changeOwner(path) {
      order.push(path);
      if (path === '/v/dir/file') throw new HostRefused({ message: 'no', errno: 'EPERM' });
    },
  };
  const logger = { ...silentLogger, warn: (message: string) => warned.push(message) };
  await giveToGroup(stubborn, '/v', { groupId: 9, readOnly: false, logger }, signal);
  assert.deepEqual([order.slice(0, 2), order.at(-1), warned.length], [['/v/dir/file', '/v/dir'], '/v', 1]);
});
