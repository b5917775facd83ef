import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryNode } from './testing/memory-node.ts';
import { startedNode } from './testing/started-node.ts';

// What a kubelet must not do in the long run.

test('pods that come, crash, wait for what is missing and go leave no timer, worker or record behind', async (t) => {
  const node = await startedNode(t);
  const cycle = async (round: number) => {
    const name = `pod-${round}`;
    const missing = { name: 'settings', configMap: { name: 'not-there' } };
    node.create({ metadata: { name, uid: `uid-${round}` }, spec: { activeDeadlineSeconds: 5000, volumes: round % 3 === 0 ? [missing] : [] } });
    await node.settle();
    const container = node.runtime.containerNamed('main');
    if (container !== undefined) node.runtime.exit(container, 1);
    await node.advance(1000);
    node.delete(name, 1);
    await node.advance(5000);
    assert.equal(node.pod(name), undefined, name);
  };
  for (let round = 0; round < 3; round += 1) await cycle(round);
  await node.advance(60_000);
  const left = async () => [node.clock.waiting, await filesBelow(node, ''), node.hostCgroups.paths];
  const before = await left();
  for (let round = 3; round < 30; round += 1) await cycle(round);
  await node.advance(60_000);
  assert.deepEqual(await left(), before);
  assert.deepEqual([...node.engine.workers.knownUids()], []);
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
});

async function filesBelow(node: MemoryNode, directory: string): Promise<readonly string[]> {
  const entries = await node.files.list(directory === '' ? '/' : directory, new AbortController().signal);
  const below = entries.map(async ({ name, kind }) => [
    `${directory}/${name}`,
    ...(kind === 'directory' ? await filesBelow(node, `${directory}/${name}`) : []),
  ]);
  return (await Promise.all(below)).flat();
}
