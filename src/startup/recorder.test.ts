import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { PodStartupBatch } from './pod-startup.ts';
import { StartupRecorder } from './recorder.ts';
import type { Transition } from './transition.ts';

const done = (podUid: string, step: string): Transition => ({
  podUid,
  namespace: 'default',
  name: podUid,
  step,
  direction: 'start',
  state: { kind: 'done' },
  atMs: 0,
  tookMs: 1,
  calls: [],
});

function aRecorder(answers: readonly (boolean | Error)[], keep = 10) {
  const clock = new FakeClock();
  const shipped: PodStartupBatch[] = [];
  const left = [...answers];
  const recorder = new StartupRecorder(
    { nodeName: 'n1', watchedPeriodMs: 100, idlePeriodMs: 1000, lastStep: 'status', keep },
    {
      describe: () => ({ title: 't', slowAfterMs: 1, reasons: {} }),
      clock,
      logger: silentLogger,
      ship: async (batch) => {
        const answer = left.shift() ?? false;
        if (answer instanceof Error) throw answer;
        shipped.push(batch);
        return { isWatched: answer };
      },
    },
  );
  return { recorder, clock, shipped, uids: () => shipped.map((batch) => batch.items.map((item) => item.uid)) };
}

test('changes within a period go out together, once', async () => {
  const { recorder, clock, uids } = aRecorder([]);
  recorder.record(done('a', 'admit'));
  recorder.record(done('b', 'admit'));
  recorder.record(done('a', 'network'));
  await clock.advance(999);
  assert.deepEqual(uids(), []);
  await clock.advance(1);
  assert.deepEqual(uids(), [['a', 'b']]);
  await clock.advance(5000);
  assert.deepEqual(uids(), [['a', 'b']]);
  assert.equal(clock.waiting, 0);
});

test('while somebody watches, batches come sooner', async () => {
  const { recorder, clock, uids } = aRecorder([true]);
  recorder.record(done('a', 'admit'));
  await clock.advance(1000);
  recorder.record(done('b', 'admit'));
  await clock.advance(100);
  assert.deepEqual(uids(), [['a'], ['b']]);
});

test('the end of a start is shipped soon, with the starts that end beside it', async () => {
  const { recorder, clock, uids } = aRecorder([]);
  recorder.record(done('a', 'admit'));
  recorder.record(done('a', 'status'));
  await clock.advance(60);
  recorder.record(done('b', 'status'));
  assert.deepEqual(uids(), []);
  await clock.advance(40);
  assert.deepEqual(uids(), [['a', 'b']]);
});

test('what could not be shipped goes out with the next batch', async () => {
  const { recorder, clock, uids } = aRecorder([new Error('away')]);
  recorder.record(done('a', 'admit'));
  await clock.advance(1000);
  assert.deepEqual(uids(), []);
  await clock.advance(1000);
  assert.deepEqual(uids(), [['a']]);
});

test('only so many records are kept, the oldest go first', () => {
  const { recorder } = aRecorder([], 2);
  for (const uid of ['a', 'b', 'c']) recorder.record(done(uid, 'admit'));
  assert.deepEqual(
    recorder.list().map((part) => part.uid),
    ['b', 'c'],
  );
});

test('how far a pull has come goes out with the record, until it has ended', async () => {
  const { recorder, clock, shipped } = aRecorder([]);
  const pull = { image: 'r.io/app:1', bytes: 1, totalBytes: 2, layers: 1, layersDone: 0, changedAtMs: 0, otherPulls: 0 };
  recorder.notePull('a', pull.image, pull); // of a pod that no step told of
  recorder.record(done('a', 'admit'));
  await clock.advance(1000);
  recorder.notePull('a', pull.image, pull);
  await clock.advance(1000);
  recorder.notePull('a', pull.image, { ...pull, bytes: 2 });
  recorder.record(done('a', 'network'));
  await clock.advance(1000);
  recorder.notePull('a', pull.image, undefined);
  await clock.advance(1000);
  assert.deepEqual(
    shipped.map(({ items }) => items[0]?.pulls?.map(({ bytes }) => bytes)),
    [undefined, [1], [2], []],
  );
});

test('after close nothing is shipped', async () => {
  const { recorder, clock, uids } = aRecorder([]);
  recorder.record(done('a', 'admit'));
  await recorder.close();
  await recorder.close();
  await clock.advance(5000);
  assert.deepEqual(uids(), []);
});
