import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from './backoff.ts';
import { FakeClock } from './testing/fake-clock.ts';

test('delays double up to the largest, and begin anew when they were not used for long', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ baseMs: 10, maxMs: 40, forgetAfterMs: 1000 }, clock);
  assert.equal(backoff.delayMs('a'), 0);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => backoff.advance('a')),
    [10, 20, 40, 40],
  );
  await clock.advance(1001);
  assert.deepEqual([backoff.delayMs('a'), backoff.advance('a')], [0, 10]);
});

test('keys that nobody asks for any more are forgotten, those in use are not', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ baseMs: 10, maxMs: 40, forgetAfterMs: 1000 }, clock);
  for (let pod = 0; pod < 500; pod += 1) backoff.advance(`gone-${pod}`);
  await clock.advance(600);
  backoff.advance('here');
  await clock.advance(600);
  backoff.advance('new');
  assert.equal(backoff.size, 2);
  assert.equal(backoff.delayMs('here'), 10);
});
