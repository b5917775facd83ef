import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpResponse } from '#wire/http/server.ts';
import { Refusal } from './answer.ts';
import { profilingAnswer, verbosityAnswer } from './debugging.ts';

const { signal } = new AbortController();

function aProcess() {
  const set: number[] = [];
  const process = {
    commandLine: ['kubelet', '--port', '1'],
    cpuProfile: async (durationMs: number) => `{"ms":${durationMs}}`,
    setVerbosity: (level: number) => void set.push(level),
  };
  return { set, process };
}

function told({ status, body }: HttpResponse): readonly [number, string] {
  return [status, Buffer.from(body as Uint8Array).toString()]; // these pages have no other bodies
}

test('of the profiles there are those that a process of Node.js has', async () => {
  const { process } = aProcess();
  const ask = async (name: string, query = '') => told(await profilingAnswer(process, name, new URLSearchParams(query), signal));
  assert.match((await ask(''))[1], /href="profile\?seconds=30"/);
  assert.deepEqual(await ask('cmdline'), [200, 'kubelet\0--port\0' + '1']);
  assert.deepEqual(await ask('profile'), [200, '{"ms":30000}']);
  assert.deepEqual(await ask('profile', 'seconds=0.5'), [200, '{"ms":500}']);
  assert.equal((await ask('goroutine'))[0], 404);
  await assert.rejects(ask('profile', 'seconds=x'), Refusal);
  await assert.rejects(ask('profile', 'seconds=9999'), Refusal);
});

test('the log’s verbosity is set by a number', () => {
  const { process, set } = aProcess();
  assert.deepEqual(told(verbosityAnswer(process, Buffer.from('5'))), [200, 'successfully set klog.logging.verbosity to 5']);
  assert.throws(() => verbosityAnswer(process, Buffer.from('loud')), {
    message: 'failed set klog.logging.verbosity loud: strconv.ParseInt: parsing "loud": invalid syntax',
  });
  assert.deepEqual(set, [5]);
});
