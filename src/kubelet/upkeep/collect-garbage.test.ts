import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { ContainerState } from '#wire/generated/cri.ts';
import { collectGarbage, type GarbageDeps } from './collect-garbage.ts';
import { UpkeepWorld } from './testing/upkeep-world.ts';

function rig() {
  const upkeep = new UpkeepWorld();
  const rules = { keepPerName: 1, keepInAll: -1, minimumAgeMs: 0 };
  const collect = (change: Partial<GarbageDeps> = {}) =>
    collectGarbage({ ...upkeep.removeDeps, rules, keepsNothing: () => false, ...change }, upkeep.world.signal);
  return { upkeep, collect, ...upkeep.world };
}

test('dead containers go with all files of their logs; a dead sandbox goes when nothing is in it', async () => {
  const { upkeep, collect, files, signal, memory } = rig();
  const { world } = upkeep;
  for (const run of [0, 1]) {
    await upkeep.end(await upkeep.start());
    await files.write(`${upkeep.logs}/${run}.log.20300101-000000.gz`, '', 0o640, signal);
  }
  await collect();
  assert.deepEqual(await upkeep.logNames(), ['1.log', '1.log.20300101-000000.gz']);
  assert.equal(world.observed.containers.length, 1);

  memory.killSandbox(world.observed.sandboxes[0]?.id ?? '');
  await world.cache.refreshSandbox(world.observed.sandboxes[0]?.id ?? '', signal);
  await world.runtime.createSandbox(world.pod, 1, '/c', signal);
  await collect();
  assert.equal(world.observed.sandboxes.length, 2, 'a container is still in the old one');
  await memory.removeContainer(memory.containerNamed('main') ?? '', signal);
  await collect();
  assert.deepEqual(
    world.observed.sandboxes.map(({ attempt }) => attempt),
    [1],
  );
});

test('of a pod that has ended its only sandbox stays, until nothing of the pod is kept', async () => {
  const { upkeep, collect, memory, signal } = rig();
  const { world } = upkeep;
  await upkeep.end(await upkeep.start());
  memory.killSandbox(world.observed.sandboxes[0]?.id ?? '');
  await world.cache.refreshSandbox(world.observed.sandboxes[0]?.id ?? '', signal);
  await collect();
  assert.deepEqual([world.observed.containers.length, world.observed.sandboxes.length], [1, 1]);
  await collect({ keepsNothing: () => true });
  assert.deepEqual([world.observed.containers.length, world.observed.sandboxes.length], [0, 0]);
  assert.deepEqual(await upkeep.logNames(), []);
});

test('a container in an unknown state is killed first, in upstream words', async () => {
  const { upkeep, collect, memory, cache, events, signal } = rig();
  const first = await upkeep.start();
  const status = await memory.containerStatus(first, signal);
  memory.containerStatus = async (id) => (id === first && status !== undefined ? { ...status, state: ContainerState.CONTAINER_UNKNOWN } : undefined);
  await cache.refreshContainer(first, signal);
  await collect({ keepsNothing: () => true });
  assert.ok(events.includes('Killing Container is in unknown state, try killing it before removal'), events.join('\n'));
  assert.deepEqual(memory.log.slice(-2), ['stopContainer', 'removeContainer']);
});

test('what cannot be removed is told, keeps its place and does not hold up others', async () => {
  const { upkeep, collect, memory } = rig();
  for (const _run of [0, 1]) await upkeep.end(await upkeep.start());
  memory.before = (call) => {
    if (call === 'removeContainer') throw new Unavailable({ message: 'the runtime is away' });
  };
  await collect();
  assert.equal(upkeep.world.observed.containers.length, 2);
  assert.deepEqual(upkeep.warnings, ['a dead container or sandbox cannot be removed: the runtime is away']);
  memory.before = () => undefined;
  await collect();
  assert.equal(upkeep.world.observed.containers.length, 1);
});

test('a runtime that cannot be asked fails the whole round', async () => {
  const { collect, memory } = rig();
  memory.before = (call) => {
    if (call === 'listContainers') throw new Unavailable({ message: 'the runtime is away' });
  };
  await assert.rejects(collect(), { message: 'the runtime is away' });
});
