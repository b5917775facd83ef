import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { Cancelled } from './errors.ts';

const hundredDaysMs = 100 * 86_400_000; // more than a timer of the platform takes

test('a timer of a hundred days does not fire at once, and may be cancelled', async () => {
  let fired = false;
  const timer = systemClock.after(hundredDaysMs, () => {
    fired = true;
  });
  await systemClock.sleep(5, new AbortController().signal); // one that is cut to nothing fires after a millisecond
  timer.cancel();
  assert.equal(fired, false);
});

test('a sleep of a hundred days ends with its signal only', async () => {
  const abort = new AbortController();
  const first = await Promise.race([
    systemClock.sleep(hundredDaysMs, abort.signal).catch((error: unknown) => error),
    systemClock.sleep(5, new AbortController().signal).then(() => 'still asleep'),
  ]);
  assert.equal(first, 'still asleep');
  const slept = systemClock.sleep(hundredDaysMs, abort.signal);
  abort.abort();
  await assert.rejects(slept, Cancelled);
});
