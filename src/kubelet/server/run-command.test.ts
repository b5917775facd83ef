import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Container } from '#wire/generated/cri.ts';
import { Refusal } from './answer.ts';
import { runCommand } from './run-command.ts';

const { signal } = new AbortController();
const target = { namespace: 'default', pod: 'p', uid: undefined, container: 'main' };
const pod = aPod({ metadata: { uid: 'u' } });

function aRuntime(exitCode: number, running = true) {
  const asked: (readonly string[])[] = [];
  return {
    asked,
    listContainers: async () => (running ? [{ id: 'c' } as Container] : []),
    execSync: async (_id: string, command: readonly string[]) => {
      asked.push(command);
      return { stdout: Buffer.from('out\n'), stderr: Buffer.from('err\n'), exitCode };
    },
  };
}

const refused = (status: number, text: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual([error.status, error.message], [status, text]);
  return true;
};

test('a command is parted at single spaces and answers both of its streams', async () => {
  const runtime = aRuntime(0);
  const { body, headers } = await runCommand(runtime, pod, target, new URLSearchParams({ cmd: 'echo a  b' }), signal);
  assert.deepEqual([Buffer.from(body as Uint8Array).toString(), headers['content-type']], ['out\nerr\n', 'application/json']);
  assert.deepEqual(runtime.asked, [['echo', 'a', '', 'b']]);
});

test('what cannot run is refused in upstream words', async () => {
  const query = new URLSearchParams({ cmd: 'false x' });
  await assert.rejects(runCommand(aRuntime(0), undefined, target, query, signal), refused(404, 'pod does not exist'));
  await assert.rejects(runCommand(aRuntime(0, false), pod, target, query, signal), refused(500, 'container not found ("main")'));
  await assert.rejects(runCommand(aRuntime(3), pod, target, query, signal), refused(500, "command 'false x' exited with 3: err\n"));
  await assert.rejects(runCommand(aRuntime(0), pod, { ...target, uid: 'x' }, query, signal), refused(500, 'container not found ("main")'));
});
