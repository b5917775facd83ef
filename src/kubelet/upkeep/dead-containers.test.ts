import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { followDeaths } from './dead-containers.ts';
import { UpkeepWorld } from './testing/upkeep-world.ts';

async function rig(t: { after(undo: () => Promise<void>): void }, keepsNothing: () => boolean = () => false) {
  const upkeep = new UpkeepWorld();
  const abort = new AbortController();
  const ended = followDeaths({ ...upkeep.removeDeps, keepPerName: 1, keepsNothing }, abort.signal);
  t.after(async () => {
    abort.abort();
    await ended;
  });
  return { upkeep, ...upkeep.world };
}

test('a container that crashes again and again leaves one dead, its last', async (t) => {
  const { upkeep } = await rig(t);
  for (let run = 0; run < 5; run += 1) {
    await upkeep.end(await upkeep.start());
    await upkeep.settle();
    assert.deepEqual(
      upkeep.world.observed.containers.map(({ restartCount }) => restartCount),
      [run],
    );
    assert.deepEqual(await upkeep.logNames(), [`${run}.log`]);
  }
});

test('while containers are being started it waits, but not for ever', async (t) => {
  const { upkeep, clock } = await rig(t);
  upkeep.busy.set(true);
  await upkeep.end(await upkeep.start());
  const second = await upkeep.start();
  upkeep.world.memory.exit(second, 1);
  await upkeep.world.cache.refreshContainer(second, upkeep.world.signal);
  await upkeep.settle();
  assert.equal(upkeep.world.observed.containers.length, 2);
  await clock.advance(5000);
  await upkeep.settle();
  assert.equal(upkeep.world.observed.containers.length, 1);
});

test('of a pod of which nothing is kept the last one goes too', async (t) => {
  const { upkeep } = await rig(t, () => true);
  await upkeep.end(await upkeep.start());
  assert.equal(upkeep.world.observed.containers.length, 0);
});

test('a failure is told once, and the next death tries again', async (t) => {
  const { upkeep, memory } = await rig(t);
  await upkeep.end(await upkeep.start());
  memory.before = (call) => {
    if (call === 'removeContainer') throw new Unavailable({ message: 'the runtime is away' });
  };
  await upkeep.end(await upkeep.start());
  assert.deepEqual(upkeep.warnings, ['upkeep of a pod failed: the runtime is away']);
  memory.before = () => undefined;
  await upkeep.end(await upkeep.start());
  assert.equal(upkeep.world.observed.containers.length, 1);
});
