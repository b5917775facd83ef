import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod } from '#api/testing/objects.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Heap } from './heap.ts';
import { podDemand } from './pod-demand.ts';
import { defaultQueueTimings, type QueuedPod, SchedulingQueue } from './scheduling-queue.ts';

function pod(uid: string, priority = 0) {
  return podDemand(aPod({ metadata: { uid }, spec: { priority } }));
}

function aQueue(eagerUpTo = 0) {
  const clock = new FakeClock();
  const queue = new SchedulingQueue(clock, { ...defaultQueueTimings, eagerUpTo }, () => undefined);
  const pop = () => {
    const popped = queue.pop();
    assert.ok(popped !== undefined, 'nothing to pop');
    return popped;
  };
  const uid = (popped: QueuedPod | undefined) => popped?.demand.pod.metadata.uid;
  return { clock, queue, pop, uid };
}

test('a heap gives its items back in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const item of items) heap.push(item);
      assert.deepEqual(
        items.map(() => heap.pop()),
        [...items].sort((a, b) => a - b),
      );
      assert.equal(heap.pop(), undefined);
    }),
  );
});

test('pods are tried by priority, then by age', async () => {
  const { clock, queue, uid } = aQueue();
  queue.put(pod('first'), true);
  await clock.advance(1);
  queue.put(pod('second'), true);
  queue.put(pod('third'), true);
  queue.put(pod('urgent', 100), true);
  queue.put(pod('first'), true); // its new state keeps its turn
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => uid(queue.pop())),
    ['urgent', 'first', 'second', 'third', undefined],
  );
});

test('a pod that no node fits waits for an event, and then for the end of its back-off', async () => {
  const { clock, queue, pop, uid } = aQueue();
  queue.put(pod('a'), true);
  queue.rejected(pop());
  await clock.advance(60_000);
  assert.equal(queue.pop(), undefined);
  queue.wakeAll();
  queue.rejected(pop()); // the second failure: two seconds
  queue.wakeAll();
  await clock.advance(1999);
  assert.equal(queue.pop(), undefined);
  await clock.advance(1);
  assert.equal(uid(pop()), 'a');
});

test('where few pods wait an event is enough; a try that broke off is not made again before its time', async () => {
  const { clock, queue, pop, uid } = aQueue(2);
  queue.put(pod('a'), true);
  queue.put(pod('b'), true);
  queue.rejected(pop());
  queue.failed(pop());
  queue.wakeAll();
  assert.deepEqual([uid(queue.pop()), queue.pop()], ['a', undefined]);
  await clock.advance(1000);
  assert.equal(uid(pop()), 'b');
});

test('the back-off doubles up to ten seconds and does not grow by events', async () => {
  const { clock, queue, pop } = aQueue();
  queue.put(pod('a'), true);
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    queue.failed(pop());
    for (let n = 0; n < 3; n += 1) queue.wakeAll();
    await clock.advance(seconds * 1000 - 1);
    assert.equal(queue.pop(), undefined, `${seconds} s`);
    await clock.advance(1);
  }
});

test('a pod that nothing wakes is tried again after five minutes', async () => {
  const { clock, queue, pop, uid } = aQueue();
  queue.put(pod('a'), true);
  queue.rejected(pop());
  await clock.advance(299_999);
  assert.equal(queue.pop(), undefined);
  await clock.advance(1);
  assert.equal(uid(pop()), 'a');
});

test('a change of a waiting pod wakes it only when it may help, and its latest state is tried', async () => {
  const { clock, queue, pop } = aQueue();
  queue.put(pod('a'), true);
  queue.rejected(pop());
  await clock.advance(2000);
  queue.put(pod('a', 1), false);
  assert.equal(queue.pop(), undefined);
  queue.put(pod('a', 2), true);
  assert.equal(pop().demand.priority, 2);
});

test('a pod that was removed is not tried, wherever it was, and leaves no timer', async () => {
  const { clock, queue, pop } = aQueue();
  for (const uid of ['active', 'waiting', 'backoff']) queue.put(pod(uid), true);
  queue.remove('active');
  queue.rejected(pop());
  queue.failed(pop());
  queue.remove('waiting');
  queue.remove('backoff');
  await clock.advance(400_000);
  assert.equal(queue.pop(), undefined);
  assert.equal(clock.waiting, 0);
});
