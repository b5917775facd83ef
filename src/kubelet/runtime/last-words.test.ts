import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { ContainerStatus } from '#wire/generated/cri.ts';
import { lastWords } from './last-words.ts';

const signal = new AbortController().signal;
const file = '/last';
const log = '/log';

async function told(texts: { readonly file?: string; readonly log?: string }, exitCode = 1): Promise<string> {
  const files = createMemoryFiles(new MemoryTree());
  if (texts.file !== undefined) await files.write(file, texts.file, 0o644, signal);
  if (texts.log !== undefined) await files.write(log, texts.log, 0o644, signal);
  const status = ContainerStatus.fromPartial({
    exitCode,
    logPath: log,
    mounts: [{ containerPath: '/dev/termination-log', hostPath: file }],
    annotations: {
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
    },
  });
  return await lastWords(status, files, signal);
}

const line = (content: string, tag = 'F') => `2026-12-02T03:00:00.5Z stdout ${tag} ${content}\n`;

test('of a termination log the last 4096 bytes are told', async () => {
  assert.equal(await told({ file: `${'a'.repeat(100)}${'b'.repeat(4096)}`, log: line('unheard') }), 'b'.repeat(4096));
});

test('who fails without a word is quoted from its log: whole lines end, the last piece does not', async () => {
  assert.equal(await told({ file: '', log: line('one') + line('tw', 'P') + line('o') + line('DONE', 'P') }), 'one\ntwo\nDONE');
  assert.equal(await told({ file: '', log: line('one') }, 0), '');
});

test('of a log 80 lines and 2048 bytes are told', async () => {
  const many = Array.from({ length: 100 }, (_, index) => line(String(index))).join('');
  assert.equal(await told({ log: many }), Array.from({ length: 80 }, (_, index) => `${index + 20}\n`).join(''));
  assert.equal(await told({ log: line('x'.repeat(3000)) }), `${'x'.repeat(2047)}\n`);
});
