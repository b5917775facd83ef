import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Container } from '#wire/generated/cri.ts';
import { Refusal } from './answer.ts';
import { checkpoint } from './checkpoint.ts';

const { signal } = new AbortController();
const pod = aPod({ metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec: { containers: [{ name: 'c' }] } });
const target = { namespace: 'ns', pod: 'p', uid: undefined, container: 'c' };

function aNode(change: { readonly running?: boolean; readonly refuses?: string } = {}) {
  const asked: unknown[] = [];
  const runtime = {
    listContainers: async () => (change.running === false ? [] : [{ id: 'id of c' } as Container]),
    checkpointContainer: async (...args: readonly unknown[]) => {
      if (change.refuses !== undefined) throw new Error(change.refuses);
      asked.push(args.slice(0, 3));
    },
  };
  const files = { ensureDirectory: async () => undefined };
  return { asked, port: { runtime, files, directory: '/root/checkpoints', now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) } };
}

const refused = (status: number, text: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual([error.status, error.message], [status, text]);
  return true;
};

test('a checkpoint goes to an archive whose path is told; the last of several timeouts counts', async () => {
  const { port, asked } = aNode();
  const { status, body } = await checkpoint(port, pod, target, new URLSearchParams('timeout=1&timeout=20'), signal);
  const path = '/root/checkpoints/checkpoint-p_ns-c-2026-01-02T03:04:05Z.tar';
  assert.deepEqual([status, JSON.parse(Buffer.from(body as Uint8Array).toString())], [200, { items: [path] }]);
  assert.deepEqual(asked, [['id of c', path, 20]]);
});

test('what cannot be checkpointed is refused in upstream words', async () => {
  const ask = (change: Parameters<typeof aNode>[0], known = pod, container = 'c', query = '') =>
    checkpoint(aNode(change).port, known, { ...target, container }, new URLSearchParams(query), signal);
  await assert.rejects(checkpoint(aNode().port, undefined, target, new URLSearchParams(), signal), refused(404, 'pod does not exist'));
  await assert.rejects(ask({}, pod, 'x'), refused(404, 'container x does not exist'));
  await assert.rejects(ask({}, pod, 'c', 'timeout=soon'), refused(404, 'cannot parse value of timeout parameter'));
  await assert.rejects(ask({ refuses: 'no criu' }), refused(500, 'checkpointing of ns/p/c failed (no criu)'));
  await assert.rejects(ask({ running: false }), refused(500, 'checkpointing of ns/p/c failed (container c not found)'));
});
