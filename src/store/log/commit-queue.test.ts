import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancelled, NotFound } from '#base/errors.ts';
import { MemoryLog } from '../memory/memory-log.ts';
import { CommitQueue, Refused } from './commit-queue.ts';

const never = new AbortController().signal;

/** A log that remembers what happened around its transactions, and can be told to lose them. */
class TellingLog extends MemoryLog {
  readonly story: string[] = [];
  failure: Error | undefined;

  override atomically<T>(work: () => T): T {
    this.story.push('begin');
    const result = work();
    if (this.failure !== undefined) throw this.failure;
    this.story.push('commit');
    return result;
  }
}

function queueOn(log: TellingLog): CommitQueue {
  return new CommitQueue(
    log,
    () => log.story.push('durable'),
    () => log.story.push('lost'),
  );
}

test('what comes in one turn of the event loop is one transaction, answered when it is durable', async () => {
  const log = new TellingLog();
  const queue = queueOn(log);
  const submit = (name: string) => queue.submit(() => log.story.push(name), never).then(() => log.story.push(`answer ${name}`));
  await Promise.all([submit('a'), Promise.resolve().then(() => submit('b'))]);
  await submit('c');
  assert.deepEqual(log.story, [
    ...['begin', 'a', 'b', 'commit', 'durable', 'answer a', 'answer b'],
    ...['begin', 'c', 'commit', 'durable', 'answer c'],
  ]);
});

test('work that is refused or cancelled fails alone', async () => {
  const log = new TellingLog();
  const queue = queueOn(log);
  const controller = new AbortController();
  const results = Promise.allSettled([
    queue.submit(() => 1, never),
    queue.submit(() => new Refused(new NotFound({ message: 'no' })), never),
    queue.submit(() => log.story.push('cancelled work ran'), controller.signal),
    queue.submit(() => 4, never),
  ]);
  controller.abort();
  const [first, second, third, fourth] = await results;
  assert.deepEqual(
    [first, fourth],
    [
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 4 },
    ],
  );
  assert.ok(second.status === 'rejected' && second.reason instanceof NotFound);
  assert.ok(third.status === 'rejected' && third.reason instanceof Cancelled);
  assert.deepEqual(log.story, ['begin', 'commit', 'durable']);
});

test('when the transaction fails all of its callers fail, and the next ones do not', async () => {
  const log = new TellingLog();
  const queue = queueOn(log);
  log.failure = new Error('disk');
  const results = await Promise.allSettled([queue.submit(() => 1, never), queue.submit(() => 2, never)]);
  assert.deepEqual(
    results,
    [1, 2].map(() => ({ status: 'rejected', reason: log.failure })),
  );
  log.failure = undefined;
  assert.equal(await queue.submit(() => 3, never), 3);
  assert.deepEqual(log.story, ['begin', 'lost', 'begin', 'commit', 'durable']);
});
