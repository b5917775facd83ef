import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancelled, NotFound, Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { lineOf, never, put, take, watching } from '../contracts/harness.ts';
import { MemoryLog } from '../memory/memory-log.ts';
import { RevisionCompacted } from '../storage.ts';
import { LogStorage } from './log-storage.ts';

/** A log on a disk that can be full. */
class FragileLog extends MemoryLog {
  isFull = false;

  override atomically<T>(work: () => T): T {
    if (this.isFull) throw new Unavailable({ message: 'the disk is full' });
    return super.atomically(work);
  }
}

test('a reader that was passed by compaction is cut off', async () => {
  const storage = new LogStorage(new MemoryLog(), new FakeClock(), silentLogger);
  const events = watching(storage, '/', 0);
  const first = events.next();
  await put(storage, '/a', '1');
  await first;
  await put(storage, '/a', '2', 2);
  await put(storage, '/a', '3', 3);
  await storage.compact(4, never);
  await assert.rejects(events.next(), RevisionCompacted);
});

test('the event at the compacted revision still knows what was there before', async () => {
  const storage = new LogStorage(new MemoryLog(), new FakeClock(), silentLogger);
  await put(storage, '/a', '1');
  await put(storage, '/a', '2', 2);
  await storage.compact(3, never);
  for (let i = 0; i < 2500; i++) await put(storage, `/more${i}`, ''); // so many that the watch reads the log
  const [event] = (await watching(storage, '/a', 3).next()).value ?? [];
  assert.equal(event === undefined ? undefined : lineOf(event), 'put /a=2 c2 m3 was 1@2');
});

test('a commit that the log loses is neither told nor counted, the next one takes its revision', async () => {
  const log = new FragileLog();
  const storage = new LogStorage(log, new FakeClock(), silentLogger);
  const events = watching(storage, '/', 0);
  log.isFull = true;
  await assert.rejects(put(storage, '/lost', '1'), Unavailable);
  assert.equal(storage.revision(), 1);
  log.isFull = false;
  assert.equal(await put(storage, '/a', '1'), 2);
  assert.deepEqual((await take(events, 1)).map(lineOf), ['put /a=1 c2 m2']);
});

test('a lease whose keys cannot be deleted now is ended when they can', async () => {
  const log = new FragileLog();
  const clock = new FakeClock();
  const storage = new LogStorage(log, clock, silentLogger);
  const lease = await storage.grantLease(5, never);
  await put(storage, '/a', '1', 0, lease);
  log.isFull = true;
  await clock.advance(20_000);
  assert.equal((await storage.get('/a', never))?.modRevision, 2);
  await assert.rejects(storage.keepLeaseAlive(lease, never), NotFound);
  log.isFull = false;
  await clock.advance(1_000);
  assert.equal(await storage.get('/a', never), undefined);
});

test('no key comes under a lease that is being revoked', async () => {
  const storage = new LogStorage(new MemoryLog(), new FakeClock(), silentLogger);
  const lease = await storage.grantLease(5, never);
  const revoked = storage.revokeLease(lease, never);
  await assert.rejects(put(storage, '/a', '1', 0, lease), NotFound);
  await revoked;
});

test('a closed store leaves no timer behind', async () => {
  const clock = new FakeClock();
  const storage = new LogStorage(new MemoryLog(), clock, silentLogger);
  await storage.grantLease(5, never);
  const granted = storage.grantLease(5, never);
  await storage.close();
  await granted;
  assert.equal(clock.waiting, 0);
  await assert.rejects(storage.grantLease(5, never), Cancelled);
});
