import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Unavailable } from '#base/errors.ts';
import { type LogRotationSettings, planTidying, rotateLogs } from './rotate-logs.ts';
import { UpkeepWorld } from './testing/upkeep-world.ts';

async function rig(change: Partial<LogRotationSettings> = {}) {
  const upkeep = new UpkeepWorld();
  const { files, signal, memory } = upkeep.world;
  await upkeep.start();
  const settings = { maxBytes: 10, maxFiles: 3, workers: 1, ...change };
  const rotate = () => rotateLogs({ ...upkeep.removeDeps, files, settings }, signal);
  const grow = (text = 'more than ten bytes') => files.write(`${upkeep.logs}/0.log`, text, 0o640, signal);
  const reopened = () => memory.log.filter((call) => call === 'reopenContainerLog').length;
  const names = async () => (await upkeep.logNames()).map((name) => name.replace(/\d{8}-\d{6}/, 'T'));
  return { upkeep, rotate, grow, reopened, names, ...upkeep.world };
}

test('a log that has grown is set aside, the one before it is compressed, the oldest goes', async () => {
  const { upkeep, rotate, grow, reopened, names, clock, files, signal } = await rig();
  for (let round = 0; round < 4; round += 1) {
    await grow(`more than ten bytes ${round}`);
    await rotate();
    await clock.advance(60_000);
  }
  assert.deepEqual(await names(), ['0.log.T.gz', '0.log.T']);
  const [packed = '', plain = ''] = await upkeep.logNames();
  const read = async (name: string) => (await files.read(`${upkeep.logs}/${name}`, signal)) ?? new Uint8Array();
  assert.equal(gunzipSync(await read(packed)).toString(), 'more than ten bytes 2');
  assert.equal(Buffer.from(await read(plain)).toString(), 'more than ten bytes 3');
  assert.equal(reopened(), 4);
});

test('a rotated file is named after the time of the node', async () => {
  const { upkeep, rotate, grow, clock } = await rig();
  await grow();
  await rotate();
  const at = new Date(clock.now());
  const parts = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0'));
  const [month, day, ...time] = parts;
  assert.deepEqual(await upkeep.logNames(), [`0.log.${at.getFullYear()}${month}${day}-${time.join('')}`]);
});

test('a log that is small is left alone, one that is missing is asked for', async () => {
  const { upkeep, rotate, grow, reopened, names, files, signal } = await rig();
  await grow('short');
  await rotate();
  assert.deepEqual([await names(), reopened()], [['0.log'], 0]);
  await files.removeTree(`${upkeep.logs}/0.log`, signal);
  await rotate();
  assert.equal(reopened(), 1);
});

test('a negative size turns rotation off', async () => {
  const { rotate, grow, reopened, names } = await rig({ maxBytes: -1 });
  await grow();
  await rotate();
  assert.deepEqual([await names(), reopened()], [['0.log'], 0]);
});

test('when the runtime cannot reopen it, the log has its name back', async () => {
  const { upkeep, rotate, grow, names, memory } = await rig();
  await grow();
  memory.before = (call) => {
    if (call === 'reopenContainerLog') throw new Unavailable({ message: 'away' });
  };
  await rotate();
  assert.deepEqual([await names(), upkeep.warnings], [['0.log'], ['a log cannot be rotated: away']]);
});

test('twice in one second keeps what was set aside first', async () => {
  const { upkeep, rotate, grow, reopened, files, signal } = await rig();
  await grow('the first ten bytes');
  await rotate();
  await grow('the second ten bytes');
  await rotate();
  const [current, first = ''] = [...(await upkeep.logNames())].sort();
  assert.deepEqual([reopened(), current, first.endsWith('.gz')], [1, '0.log', true]);
  const packed = await files.read(`${upkeep.logs}/${first}`, signal);
  assert.equal(gunzipSync(packed ?? new Uint8Array()).toString(), 'the first ten bytes');
});

test('so many are rotated at once as there are workers', async () => {
  const { upkeep, rotate, grow, memory } = await rig({ workers: 2 });
  await grow();
  const waiting: (() => void)[] = [];
  memory.before = (call) => (call === 'reopenContainerLog' ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined);
  const { cache } = upkeep.world;
  const [state] = cache.all();
  const [container] = state?.containers ?? [];
  assert.ok(state !== undefined && container !== undefined);
  const others = ['a', 'b'].map((name) => ({ ...container, id: name, name, logPath: `/pod-logs/${name}.log` }));
  cache.all = () => [{ ...state, containers: [container, ...others] }];
  const done = rotate();
  await upkeep.settle();
  assert.equal(waiting.length, 2);
  waiting.shift()?.();
  await upkeep.settle();
  assert.equal(waiting.length, 2);
  for (const release of waiting) release();
  await done;
});

test('what a rotation that broke off has left is removed, and does not count', () => {
  const rotated = ['0.log.3', '0.log.2', '0.log.2.gz', '0.log.1.gz', '0.log.1.gz.tmp', '0.log.3.gz.tmp'];
  assert.deepEqual(planTidying(rotated, 4), {
    kept: ['0.log.2.gz', '0.log.3'],
    removed: ['0.log.2', '0.log.1.gz.tmp', '0.log.3.gz.tmp', '0.log.1.gz'],
  });
  assert.deepEqual(planTidying(['0.log.1.gz'], 2), { kept: [], removed: ['0.log.1.gz'] });
});
