import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { MemoryUsage } from '#os/memory/usage.ts';
import { DirectorySizes } from './directory-sizes.ts';

function aWorld() {
  const usage = new MemoryUsage();
  const clock = new FakeClock();
  usage.directories.set('/a', { bytes: 1, inodes: 1 });
  return { usage, clock, sizes: new DirectorySizes({ usage, clock, logger: silentLogger }) };
}

test('a directory is walked once for all who ask while the figure is young', async () => {
  const { usage, clock, sizes } = aWorld();
  assert.deepEqual(await Promise.all([sizes.of('/a', 1000), sizes.of('/a', 1000)]), [
    { bytes: 1, inodes: 1 },
    { bytes: 1, inodes: 1 },
  ]);
  await clock.advance(999);
  await sizes.of('/a', 1000);
  assert.deepEqual(usage.walked, ['/a']);
  await clock.advance(1);
  usage.directories.set('/a', { bytes: 2, inodes: 1 });
  assert.deepEqual(await sizes.of('/a', 1000), { bytes: 2, inodes: 1 });
});

test('whoever waits too long gets the older figure, and the walk goes on', async () => {
  const { usage, clock, sizes } = aWorld();
  await sizes.of('/a', 1000);
  await clock.advance(1000);
  let goOn: () => void = () => undefined;
  usage.beforeWalk = () => new Promise((resolve) => (goOn = resolve));
  usage.directories.set('/a', { bytes: 2, inodes: 1 });
  const asked = sizes.of('/a', 1000);
  await clock.advance(2000);
  assert.deepEqual(await asked, { bytes: 1, inodes: 1 });
  goOn();
  assert.deepEqual(await sizes.of('/a', 1000), { bytes: 2, inodes: 1 });
  assert.equal(usage.walked.length, 2);
});

test('two walks go on at once and no more; a failure stops none of the others', async () => {
  const { usage, sizes } = aWorld();
  let running = 0;
  let most = 0;
  usage.beforeWalk = async (path) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    if (path === '/b1') throw new Error('no');
  };
  const paths = ['/b0', '/b1', '/b2', '/b3', '/a'];
  assert.deepEqual(await Promise.all(paths.map((path) => sizes.of(path, 1000))), [
    undefined,
    undefined,
    undefined,
    undefined,
    { bytes: 1, inodes: 1 },
  ]);
  assert.equal(most, 2);
  await sizes[Symbol.asyncDispose]();
});
