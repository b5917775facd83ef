import assert from 'node:assert/strict';
import { InvalidInput, NotFound } from '#base/errors.ts';
import { lineOf, never, type OpenStorage, put, remove, take, watching, withStorage } from './harness.ts';

export function leaseContract(open: OpenStorage): void {
  withStorage(open, 'when a lease ends its keys are deleted, as any deletion', async (storage, { passTime }) => {
    const lease = await storage.grantLease(2, never);
    assert.ok(lease > 0);
    await put(storage, '/stays', '1');
    await put(storage, '/goes', '1', 0, lease);
    const events = watching(storage, '/', 0);
    await passTime(3000);
    assert.deepEqual((await take(events, 1)).map(lineOf), ['delete /goes=1 c3 m4']);
    assert.equal(await storage.get('/goes', never), undefined);
    assert.equal((await storage.get('/stays', never))?.modRevision, 2);
    await assert.rejects(storage.keepLeaseAlive(lease, never), NotFound);
    await assert.rejects(put(storage, '/late', '1', 0, lease), NotFound);
  });

  withStorage(open, 'a lease that is kept alive does not end', async (storage, { passTime }) => {
    const lease = await storage.grantLease(2, never);
    await put(storage, '/a', '1', 0, lease);
    for (let i = 0; i < 3; i++) {
      await passTime(1200);
      await storage.keepLeaseAlive(lease, never);
    }
    assert.equal((await storage.get('/a', never))?.modRevision, 2);
    const events = watching(storage, '/', 0);
    await passTime(3000);
    assert.deepEqual((await take(events, 1)).map(lineOf), ['delete /a=1 c2 m3']);
  });

  withStorage(open, 'revoking a lease deletes its keys at once and may be repeated', async (storage) => {
    const lease = await storage.grantLease(60, never);
    const other = await storage.grantLease(60, never);
    assert.notEqual(lease, other);
    await put(storage, '/a', '1', 0, lease);
    await put(storage, '/b', '1', 0, other);
    await storage.revokeLease(lease, never);
    await storage.revokeLease(lease, never);
    assert.equal(await storage.get('/a', never), undefined);
    assert.equal((await storage.get('/b', never))?.modRevision, 3);
  });

  withStorage(open, 'a key belongs to the lease of its last write only', async (storage) => {
    const lease = await storage.grantLease(60, never);
    await put(storage, '/freed', '2', await put(storage, '/freed', '1', 0, lease));
    await put(storage, '/bound', '2', await put(storage, '/bound', '1'), lease);
    await remove(storage, '/gone', await put(storage, '/gone', '1', 0, lease));
    await put(storage, '/gone', 'again');
    await storage.revokeLease(lease, never);
    const { entries } = await storage.range('/', { revision: 0, limit: 0, after: '' }, never);
    assert.deepEqual(
      entries.map((entry) => entry.key),
      ['/freed', '/gone'],
    );
  });

  withStorage(open, 'an unknown lease and a senseless duration are refused', async (storage) => {
    await assert.rejects(put(storage, '/a', '1', 0, 4711), NotFound);
    await assert.rejects(storage.keepLeaseAlive(4711, never), NotFound);
    await storage.revokeLease(4711, never);
    for (const ttlSeconds of [0, -1, 1.5]) await assert.rejects(storage.grantLease(ttlSeconds, never), InvalidInput);
    assert.equal(storage.revision(), 1);
  });
}
