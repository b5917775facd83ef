import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { aContainer as aSpec } from '#api/testing/objects.ts';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { StepWorld } from '../pod-start/testing/step-world.ts';
import { rotateLogs } from './rotate-logs.ts';

async function rig() {
  const world = new StepWorld();
  const { memory, cache, files, clock, signal } = world;
  const sandboxId = await world.sandbox();
  await world.runtime.startContainer(
    { pod: world.pod, container: aSpec(), kind: 'container', sandboxId, cgroupParent: '/c', podIPs: [], volumes: new Map() },
    signal,
  );
  const directory = '/pod-logs/default_web_uid-of-web/main';
  const names = async () => (await files.list(directory, signal)).map(({ name }) => name);
  const rotate = () => rotateLogs({ runtime: memory, cache, files, clock, logger: silentLogger, maxBytes: 10, maxFiles: 3 }, signal);
  const grow = () => files.write(`${directory}/0.log`, 'more than ten bytes', 0o640, signal);
  return { world, directory, names, rotate, grow };
}

test('a log that has grown is set aside, the one before it is compressed, the oldest goes', async () => {
  const { world, directory, names, rotate, grow } = await rig();
  for (let round = 0; round < 4; round += 1) {
    await grow();
    await rotate();
    await world.clock.advance(60_000);
  }
  const left = await names();
  assert.deepEqual(
    left.map((name) => name.replace(/\d{8}-\d{6}/, 'T')),
    ['0.log.T.gz', '0.log.T'],
  );
  const packed = await world.files.read(`${directory}/${left[0]}`, world.signal);
  assert.equal(gunzipSync(packed ?? new Uint8Array()).toString(), 'more than ten bytes');
  assert.equal(world.memory.log.filter((call) => call === 'reopenContainerLog').length, 4);
});

test('a log that is small is left alone, one that is missing is asked for', async () => {
  const { world, directory, names, rotate } = await rig();
  await rotate();
  assert.equal(world.memory.log.at(-1), 'reopenContainerLog');
  await world.files.write(`${directory}/0.log`, 'short', 0o640, world.signal);
  await rotate();
  assert.deepEqual(await names(), ['0.log']);
});

test('when the runtime cannot reopen it, the log has its name back', async () => {
  const { world, names, rotate, grow } = await rig();
  await grow();
  world.memory.before = (call) => {
    if (call === 'reopenContainerLog') throw new Unavailable({ message: 'away' });
  };
  await rotate();
  assert.deepEqual(await names(), ['0.log']);
});
