import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { Refusal } from './answer.ts';
import { nodeLogAnswer } from './node-logs.ts';

const { signal } = new AbortController();

async function ask(path: string, query: string, isOn = true): Promise<readonly [status: number, text: string]> {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/var/log', 0o755, signal);
  await files.write('/var/log/syslog', 'of the system\n', 0o644, signal);
  const open = async (file: string) => {
    const content = (await files.read(file, signal)) ?? new Uint8Array();
    const read = async (offset: number, length: number) => content.slice(offset, offset + length);
    return content.length === 0 ? undefined : { identity: file, sizeBytes: async () => content.length, read, close: async () => undefined };
  };
  const programs = { run: async () => '' };
  const serviceLogs = isOn ? { directory: '/var/log', files, programs, clock: new FakeClock() } : undefined;
  const logs = { systemLogs: { directory: '/var/log', files, logFiles: { open } }, serviceLogs };
  try {
    const { status, body } = await nodeLogAnswer(logs, path, new URLSearchParams(query), path === '', signal);
    let text = '';
    if (body instanceof Uint8Array) text = Buffer.from(body).toString();
    else for await (const chunk of body) text += Buffer.from(chunk).toString();
    return [status, text];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.status, error.message];
  }
}

test('files of the host and logs of its services are told under one path', async () => {
  assert.deepEqual(await ask('syslog', ''), [200, 'of the system\n']);
  assert.deepEqual(await ask('', 'query=/syslog'), [200, 'of the system\n']);
  assert.deepEqual(await ask('', 'query=syslog'), [200, 'of the system\n']);
});

test('what makes no sense is refused in upstream words', async () => {
  assert.deepEqual(await ask('', 'query='), [400, 'query: Invalid value: [""]: query cannot be empty\n']);
  assert.deepEqual(await ask('syslog', 'query=kubelet'), [406, 'path not allowed in query mode\n']);
  assert.deepEqual(await ask('', 'query=kubelet&boot=2'), [406, 'boot: Invalid value: 2: must be less than 1\n']);
  assert.deepEqual(await ask('', 'query=/other'), [406, 'query: Invalid value: ["/other"]: stat /var/log/other: no such file or directory\n']);
});

test('without the setting a query is not read', async () => {
  assert.equal((await ask('', 'query=kubelet', false))[0], 200, 'the folder');
  assert.deepEqual(await ask('syslog', 'query=kubelet', false), [200, 'of the system\n']);
});
