import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { systemLogAnswer } from './system-logs.ts';

const { signal } = new AbortController();

async function aWorld() {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/var/log/pods', 0o755, signal);
  await files.write('/var/log/messages', 'first\nsecond\n', 0o644, signal);
  await files.write('/var/secret', 'secret', 0o600, signal);
  const logFiles = {
    open: async (path: string) => {
      const bytes = await files.read(path, signal);
      if (bytes === undefined) return undefined;
      return {
        identity: path,
        sizeBytes: async () => bytes.length,
        read: async (from: number, max: number) => bytes.subarray(from, from + max),
        close: async () => undefined,
      };
    },
  };
  return async (path: string) => {
    const answer = await systemLogAnswer({ directory: '/var/log', files, logFiles }, path, path === '' || path.endsWith('/'), signal);
    const chunks: Uint8Array[] = [];
    if (answer.body instanceof Uint8Array) chunks.push(answer.body);
    else for await (const chunk of answer.body) chunks.push(chunk);
    return [answer.status, Buffer.concat(chunks).toString(), answer.headers['location']] as const;
  };
}

test('files are shown as they are and folders as links', async () => {
  const ask = await aWorld();
  assert.deepEqual((await ask('messages')).slice(0, 2), [200, 'first\nsecond\n']);
  const [status, page] = await ask('');
  assert.equal(status, 200);
  assert.match(page, /<pre>\n<a href="messages">messages<\/a>\n<a href="pods\/">pods\/<\/a>\n<\/pre>\n/);
  assert.deepEqual(await ask('pods'), [301, '', 'pods/']);
});

test('nothing above the folder is shown', async () => {
  const ask = await aWorld();
  for (const path of ['../secret', '/../../var/secret', 'pods/../../secret', 'none', 'messages/'])
    assert.deepEqual((await ask(path)).slice(0, 2), [404, '404 page not found\n'], path);
});
