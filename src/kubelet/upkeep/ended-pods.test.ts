import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { putOut } from '../pod-workers/put-out.ts';
import { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { MemoryNode } from '../testing/memory-node.ts';
import { startedNode } from '../testing/started-node.ts';
import { collectGarbage } from './collect-garbage.ts';

const { signal } = new AbortController();
const refusal = { reason: 'Evicted', message: 'no room. ', putOut: { isDisruption: true, keepsSuccess: false } };
const never = { restartPolicy: 'Never' } as const;

/** One round of the node's upkeep. */
async function collect({ runtime, files, clock, engine }: MemoryNode, keepsNothing?: (uid: string) => boolean): Promise<void> {
  const cache = new RuntimeCache({ runtime, files, clock });
  await cache.relist(signal);
  const rules = { keepPerName: 1, keepInAll: -1, minimumAgeMs: 0 };
  const deps = { runtime, files, clock, cache, rules, logger: silentLogger, events: { emit: () => undefined }, http: { get: async () => 200 } };
  await collectGarbage({ ...deps, keepsNothing: keepsNothing ?? ((uid) => engine.workers.keepsNothing(uid)) }, signal);
}

test('a pod that has ended by itself keeps its last containers; for a full disk they go, and its status stays', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: never });
  await node.settle();
  node.runtime.exit(node.runtime.containerNamed('main') ?? '', 0);
  await node.settle();
  await collect(node);
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: ['web/0 1'], containers: ['main/0 2'] });
  await collect(node, (uid) => node.engine.workers.remainsOf(uid) === 'stopped');
  await node.settle();
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
  const { phase, containerStatuses } = node.pod()?.status ?? {};
  assert.deepEqual([phase, containerStatuses?.[0]?.state?.terminated?.reason], ['Succeeded', 'Completed']);
});

test('of a pod that was put out nothing is kept but its object', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  const { workers } = node.engine;
  await collect(node);
  assert.equal(workers.keepsNothing(pod.metadata.uid), false);
  const done = putOut(pod, refusal, 1, { workers, events: { emit: () => undefined }, clock: node.clock }, signal);
  await node.settle();
  await done;
  await collect(node);
  await node.housekeep();
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
  assert.deepEqual(await node.files.list('/pod-logs', signal), []);
  assert.deepEqual([node.pod()?.status?.phase, node.pod()?.status?.reason], ['Failed', 'Evicted']);
  assert.notEqual(node.pod()?.status?.containerStatuses?.[0]?.state?.terminated, undefined);
});

test('a pod that went with a shutdown keeps its last containers', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  const { workers } = node.engine;
  const shutdown = { ...refusal, reason: 'Terminated', putOut: { isDisruption: true, keepsSuccess: true } };
  const done = putOut(pod, shutdown, 1, { workers, events: { emit: () => undefined }, clock: node.clock }, signal);
  await node.settle();
  await done;
  await collect(node);
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: ['web/0 1'], containers: ['main/0 2'] });
});
