import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { Download } from '../../ports/downloads.ts';
import { DownloadFollower } from './follow-downloads.ts';

function aFollower() {
  const clock = new FakeClock();
  const told: string[] = [];
  const world: { downloads: readonly Download[] | undefined; asked: number } = { downloads: [], asked: 0 };
  const follower = new DownloadFollower({
    source: {
      downloads: async () => {
        world.asked += 1;
        return world.downloads;
      },
    },
    tell: (uid, image, progress) => {
      if (progress === undefined) return void told.push(`${uid} ${image} over`);
      const { bytes, totalBytes, layers, layersDone, otherPulls, changedAtMs } = progress;
      told.push(`${uid} ${image} ${bytes}/${totalBytes} bytes ${layersDone}/${layers} layers +${otherPulls} @${clock.now() - changedAtMs}`);
    },
    clock,
    logger: silentLogger,
  });
  const second = async (...downloads: readonly (readonly [ref: string, bytes: number, totalBytes: number, updatedAtMs?: number])[]) => {
    world.downloads = downloads.map(([ref, bytes, totalBytes, updatedAtMs = clock.now() + 1]) => ({ ref, bytes, totalBytes, updatedAtMs }));
    told.length = 0;
    await clock.advance(1000);
    await nextTurn();
    return [...told];
  };
  return { clock, follower, world, told, second };
}

test('bytes and layers of a pull are told every second, to every pod that waits for it', async () => {
  const { follower, told, second } = aFollower();
  const pods = new Set(['a']);
  const end = follower.follow('r.io/app:1', pods);
  assert.deepEqual(await second(['manifest-sha256:1', 10, 10]), [], 'no layer yet');
  assert.deepEqual(await second(['layer-sha256:1', 10, 100], ['layer-sha256:2', 0, 50]), ['a r.io/app:1 10/150 bytes 0/2 layers +0 @0']);
  pods.add('b');
  assert.deepEqual(await second(['layer-sha256:2', 20, 50]), [
    'a r.io/app:1 120/150 bytes 1/2 layers +0 @0',
    'b r.io/app:1 120/150 bytes 1/2 layers +0 @0',
  ]);
  assert.deepEqual((await second(['layer-sha256:2', 20, 50]))[0], 'a r.io/app:1 120/150 bytes 1/2 layers +0 @1000', 'nothing came for a second');
  told.length = 0;
  end();
  assert.deepEqual(told, ['a r.io/app:1 over', 'b r.io/app:1 over']);
});

test('what an earlier pull has left half done does not count until somebody goes on with it', async () => {
  const { follower, second, clock } = aFollower();
  const before = clock.now() - 1;
  follower.follow('r.io/app:1', new Set(['a']));
  assert.deepEqual(await second(['layer-sha256:9', 70, 100, before]), []);
  assert.deepEqual(await second(['layer-sha256:9', 80, 100]), ['a r.io/app:1 80/100 bytes 0/1 layers +0 @0']);
});

test('the runtime is asked only while something is pulled, and not for a pull that is quick', async () => {
  const { follower, world, second, clock } = aFollower();
  const end = follower.follow('r.io/quick:1', new Set(['a']));
  await clock.advance(900);
  end();
  await second();
  await second();
  assert.deepEqual([world.asked, clock.waiting], [0, 0]);
  const one = follower.follow('r.io/one:1', new Set(['a']));
  const two = follower.follow('r.io/two:1', new Set(['b']));
  assert.deepEqual(await second(['layer-sha256:1', 1, 9]), ['a r.io/one:1 1/9 bytes 0/1 layers +1 @0', 'b r.io/two:1 1/9 bytes 0/1 layers +1 @0']);
  assert.equal(world.asked, 1, 'once for all pulls');
  one();
  two();
});

test('a runtime that does not tell is not asked again', async () => {
  const { follower, world, clock } = aFollower();
  world.downloads = undefined;
  follower.follow('r.io/app:1', new Set(['a']));
  await clock.advance(5000);
  await nextTurn();
  assert.equal(world.asked, 1);
});
