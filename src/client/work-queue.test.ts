import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { settled } from './testing/settled.ts';
import { WorkQueue } from './work-queue.ts';

/** A queue whose handler waits to be released, one call after the other. */
function working(t: { after(action: () => void): void }, workers = 2) {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, logger: silentLogger, workers, backoff: { baseMs: 10, maxMs: 1000 } });
  const begun: string[] = [];
  const open: { readonly key: string; readonly end: (error?: Error) => void }[] = [];
  const stop = new AbortController();
  const ended = queue.run((key) => {
    begun.push(key);
    return new Promise((resolve, reject) => open.push({ key, end: (error) => (error === undefined ? resolve() : reject(error)) }));
  }, stop.signal);
  const end = async (key: string, error?: Error) => {
    const at = open.findIndex((one) => one.key === key);
    open.splice(at, 1)[0]?.end(error);
    await settled();
  };
  t.after(() => stop.abort());
  return { clock, queue, begun, end, stop: () => stop.abort(), ended };
}

test('a key that is added many times is worked on once', async (t) => {
  const { queue, begun, end } = working(t, 1);
  queue.add('blocker');
  queue.add('a');
  queue.add('a');
  await end('blocker');
  await end('a');
  assert.deepEqual(begun, ['blocker', 'a']);
});

test('a key that is added while it is worked on comes again afterwards, and never twice at a time', async (t) => {
  const { queue, begun, end } = working(t);
  queue.add('a');
  queue.add('a');
  queue.add('a');
  assert.deepEqual(begun, ['a']);
  await end('a');
  assert.deepEqual(begun, ['a', 'a']);
  await end('a');
  assert.deepEqual(begun, ['a', 'a']);
});

test('no more keys are worked on than there are workers', async (t) => {
  const { queue, begun, end } = working(t);
  for (const key of ['a', 'b', 'c']) queue.add(key);
  assert.deepEqual(begun, ['a', 'b']);
  await end('b');
  assert.deepEqual(begun, ['a', 'b', 'c']);
});

test('a key that fails is tried again after delays that double, until it succeeds', async (t) => {
  const { clock, queue, begun, end } = working(t);
  const failure = new Unavailable({ message: 'down' });
  queue.add('a');
  await end('a', failure);
  await clock.advance(9);
  assert.equal(begun.length, 1);
  await clock.advance(1);
  assert.equal(begun.length, 2);
  await end('a', failure);
  await clock.advance(19);
  assert.equal(begun.length, 2);
  await clock.advance(1);
  await end('a');
  queue.add('a');
  await end('a', failure);
  await clock.advance(10);
  assert.equal(begun.length, 5);
});

test('of two wishes for later the earlier counts, and a key that is added now needs neither', async (t) => {
  const { clock, queue, begun, end } = working(t);
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 70);
  await clock.advance(50);
  await end('a');
  queue.addAfter('a', 100);
  queue.add('a');
  await end('a');
  await clock.advance(1000);
  assert.deepEqual(begun, ['a', 'a']);
});

test('a queue that is stopped ends when the work that was begun has ended, and starts nothing more', async (t) => {
  const { queue, begun, end, stop, ended } = working(t, 1);
  queue.add('a');
  queue.add('b');
  stop();
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  await settled();
  assert.equal(isOver, false);
  await end('a');
  await over;
  assert.deepEqual(begun, ['a']);
});
