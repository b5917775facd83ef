import assert from 'node:assert/strict';
import { Cancelled, InvalidInput } from '#base/errors.ts';
import { maxValueBytes, ValueTooLarge } from '../storage.ts';
import { bytes, never, type OpenStorage, put, remove, textOf, withStorage } from './harness.ts';

export function writeContract(open: OpenStorage): void {
  withStorage(open, 'a fresh store is at revision 1 and each commit raises it by one', async (storage) => {
    assert.equal(storage.revision(), 1);
    assert.equal(await put(storage, '/a', '1'), 2);
    assert.equal(await put(storage, '/b', '1'), 3);
    assert.equal(await remove(storage, '/a', 2), 4);
    assert.equal(storage.revision(), 4);
  });

  withStorage(open, 'an update keeps the create revision, a re-creation does not', async (storage) => {
    await put(storage, '/a', 'one');
    await put(storage, '/a', 'two', 2);
    assert.deepEqual(await storage.get('/a', never), { key: '/a', value: bytes('two'), createRevision: 2, modRevision: 3 });
    await remove(storage, '/a', 3);
    assert.equal(await storage.get('/a', never), undefined);
    await put(storage, '/a', 'three');
    assert.deepEqual(await storage.get('/a', never), { key: '/a', value: bytes('three'), createRevision: 5, modRevision: 5 });
  });

  withStorage(open, 'a write that expects another revision is answered with what is there and writes nothing', async (storage) => {
    const write = { key: '/a', value: bytes('x'), leaseId: 0 };
    assert.deepEqual(await storage.commit({ ...write, expectedRevision: 7 }, never), { kind: 'conflict', current: undefined, revision: 1 });
    await put(storage, '/a', '1');
    const current = { key: '/a', value: bytes('1'), createRevision: 2, modRevision: 2 };
    for (const expectedRevision of [0, 1, 3]) {
      assert.deepEqual(await storage.commit({ ...write, expectedRevision }, never), { kind: 'conflict', current, revision: 2 });
    }
    const deletion = { key: '/a', value: undefined, leaseId: 0, expectedRevision: 1 };
    assert.deepEqual(await storage.commit(deletion, never), { kind: 'conflict', current, revision: 2 });
    assert.deepEqual(await storage.get('/a', never), current);
    assert.equal(storage.revision(), 2);
  });

  withStorage(open, 'of concurrent writes to one key exactly one wins and the others see it', async (storage) => {
    const results = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((value) =>
        storage.commit({ key: '/k', value: bytes(value), expectedRevision: 0, leaseId: 0 }, never),
      ),
    );
    assert.equal(results.filter((result) => result.kind === 'committed').length, 1);
    const winner = await storage.get('/k', never);
    for (const result of results) {
      if (result.kind === 'conflict') assert.deepEqual(result.current, winner);
    }
    assert.equal(storage.revision(), 2);
  });

  withStorage(open, 'concurrent writes to many keys get a revision each', async (storage) => {
    const revisions = await Promise.all(Array.from({ length: 50 }, (_, i) => put(storage, `/k${i}`, `${i}`)));
    assert.deepEqual(
      [...revisions].sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, i) => i + 2),
    );
  });

  withStorage(open, 'a value of the largest size is kept, a larger one is refused and writes nothing', async (storage) => {
    const value = new Uint8Array(maxValueBytes);
    await storage.commit({ key: '/a', value, expectedRevision: 0, leaseId: 0 }, never);
    const larger = { key: '/b', value: new Uint8Array(maxValueBytes + 1), expectedRevision: 0, leaseId: 0 };
    await assert.rejects(storage.commit(larger, never), ValueTooLarge);
    assert.equal(storage.revision(), 2);
  });

  withStorage(open, 'values come back byte for byte, the empty one too', async (storage) => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    await storage.commit({ key: '/all', value: all, expectedRevision: 0, leaseId: 0 }, never);
    await storage.commit({ key: '/none', value: new Uint8Array(0), expectedRevision: 0, leaseId: 0 }, never);
    assert.deepEqual(Buffer.from((await storage.get('/all', never))?.value ?? []), Buffer.from(all));
    assert.equal((await storage.get('/none', never))?.value.length, 0);
    const { entries } = await storage.range('/', { revision: 0, limit: 0, after: '' }, never);
    assert.deepEqual(
      entries.map((entry) => entry.value.length),
      [256, 0],
    );
  });

  withStorage(open, 'what a store cannot keep is refused', async (storage) => {
    for (const key of ['', '/a\0b', '/\ud800']) await assert.rejects(put(storage, key, 'x'), InvalidInput);
    await assert.rejects(remove(storage, '/a', 0), InvalidInput);
    assert.equal(storage.revision(), 1);
  });

  withStorage(open, 'a call with an aborted signal does nothing', async (storage) => {
    const aborted = AbortSignal.abort();
    const write = { key: '/a', value: bytes('x'), expectedRevision: 0, leaseId: 0 };
    await assert.rejects(storage.commit(write, aborted), Cancelled);
    await assert.rejects(storage.get('/a', aborted), Cancelled);
    await assert.rejects(storage.range('/', { revision: 0, limit: 0, after: '' }, aborted), Cancelled);
    assert.equal(storage.revision(), 1);
  });

  withStorage(open, 'what was submitted before close is committed, calls after it are cancelled', async (storage) => {
    const last = put(storage, '/a', 'x');
    await storage.close();
    await storage.close();
    assert.equal(await last, 2);
    await assert.rejects(storage.get('/a', never), Cancelled);
    await assert.rejects(put(storage, '/b', 'x'), Cancelled);
  });

  withStorage(open, 'one failing write leaves its neighbours alone', async (storage) => {
    const noLease = 4711;
    const results = await Promise.allSettled([put(storage, '/a', '1'), put(storage, '/b', '1', 0, noLease), put(storage, '/c', '1')]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const { entries } = await storage.range('/', { revision: 0, limit: 0, after: '' }, never);
    assert.deepEqual(
      entries.map((entry) => `${entry.key}=${textOf(entry.value)}`),
      ['/a=1', '/c=1'],
    );
  });
}
