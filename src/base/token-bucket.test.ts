import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from './testing/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

test('so many at once, then so many a second', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(2, 3, clock);
  const admitted = () => Array.from({ length: 10 }, () => bucket.admits()).filter(Boolean).length;
  assert.equal(admitted(), 3);
  await clock.advance(1000);
  assert.equal(admitted(), 2);
  await clock.advance(60_000);
  assert.equal(admitted(), 3);
});

test('who waits goes as soon as there is room, and is cancelled by its signal', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(2, 1, clock);
  const times: number[] = [];
  const start = clock.now();
  const abort = new AbortController();
  const taking = (async () => {
    for (;;) {
      await bucket.take(abort.signal);
      times.push(clock.now() - start);
    }
  })();
  await clock.advance(0);
  await clock.advance(1600);
  assert.deepEqual(times, [0, 500, 1000, 1500]);
  abort.abort();
  await assert.rejects(taking);
});

test('no rate is no limit', () => {
  const bucket = new TokenBucket(0, 0, new FakeClock());
  assert.equal(bucket.admits(), true);
});
