import assert from 'node:assert/strict';
import { type RangeOptions, RevisionCompacted, RevisionInFuture, type Storage } from '../storage.ts';
import { never, type OpenStorage, put, remove, textOf, withStorage } from './harness.ts';

export function historyContract(open: OpenStorage): void {
  withStorage(open, 'a range has the keys under its prefix in byte order', async (storage) => {
    // U+FFFD sorts before U+1F600 in bytes and after it in UTF-16
    const keys = ['/p/b', '/p/a', '/p/\ufffd', '/p/\u{1F600}', '/p/a/c', '/p/A', '/p', '/q', '/p0'];
    for (const key of keys) await put(storage, key, key);
    assert.deepEqual(await list(storage, '/p/'), ['/p/A', '/p/a', '/p/a/c', '/p/b', '/p/\ufffd', '/p/\u{1F600}']);
    assert.deepEqual(await list(storage, ''), ['/p', '/p/A', '/p/a', '/p/a/c', '/p/b', '/p/\ufffd', '/p/\u{1F600}', '/p0', '/q']);
    assert.deepEqual(await list(storage, '/nothing'), []);
  });

  withStorage(open, 'a range goes on after a key, page by page, at the revision of its first page', async (storage) => {
    for (const key of ['/a', '/b', '/c', '/d', '/e']) await put(storage, key, key);
    const first = await storage.range('/', { revision: 0, limit: 2, after: '' }, never);
    assert.deepEqual([first.entries.map((entry) => entry.key), first.hasMore, first.revision], [['/a', '/b'], true, 6]);
    await remove(storage, '/c', 4);
    await put(storage, '/bb', 'new');
    const second = await storage.range('/', { revision: first.revision, limit: 2, after: '/b' }, never);
    assert.deepEqual([second.entries.map((entry) => entry.key), second.hasMore, second.revision], [['/c', '/d'], true, 6]);
    const third = await storage.range('/', { revision: first.revision, limit: 2, after: '/d' }, never);
    assert.deepEqual([third.entries.map((entry) => entry.key), third.hasMore], [['/e'], false]);
    const exact = await storage.range('/', { revision: first.revision, limit: 5, after: '' }, never);
    assert.equal(exact.hasMore, false);
  });

  withStorage(open, 'a range at a revision is the store as it was then', async (storage) => {
    await put(storage, '/a', '1');
    await put(storage, '/a', '2', 2);
    await put(storage, '/b', '1');
    await remove(storage, '/a', 3);
    const seen: string[][] = [];
    for (const revision of [1, 2, 3, 4, 5]) seen.push(await values(storage, { revision }));
    assert.deepEqual(seen, [[], ['/a=1@2'], ['/a=2@3'], ['/a=2@3', '/b=1@4'], ['/b=1@4']]);
  });

  withStorage(open, 'a revision that is not reached yet is refused', async (storage) => {
    await put(storage, '/a', '1');
    await assert.rejects(values(storage, { revision: 3 }), RevisionInFuture);
    await assert.rejects(storage.compact(3, never), RevisionInFuture);
    assert.equal(storage.revision(), 2);
  });

  withStorage(open, 'compaction forgets what is below its revision and keeps what lived at it', async (storage) => {
    await put(storage, '/a', '1');
    await put(storage, '/old', '1');
    await put(storage, '/a', '2', 2);
    await remove(storage, '/gone', await put(storage, '/gone', '1'));
    await put(storage, '/a', '3', 4);
    await storage.compact(6, never);
    await assert.rejects(values(storage, { revision: 5 }), RevisionCompacted);
    assert.deepEqual(await values(storage, { revision: 6 }), ['/a=2@4', '/old=1@3']);
    assert.deepEqual(await values(storage, { revision: 0 }), ['/a=3@7', '/old=1@3']);
    assert.equal(await put(storage, '/a', '4', 7), 8);
    assert.equal(await put(storage, '/gone', 'again'), 9);
  });

  withStorage(open, 'compaction may be repeated at a higher revision only', async (storage) => {
    for (const revision of [0, 2, 3, 4]) await put(storage, '/a', `${revision}`, revision);
    await storage.compact(3, never);
    await assert.rejects(storage.compact(3, never), RevisionCompacted);
    await assert.rejects(storage.compact(2, never), RevisionCompacted);
    await storage.compact(5, never);
    assert.deepEqual(await values(storage, { revision: 5 }), ['/a=4@5']);
  });
}

async function list(storage: Storage, prefix: string): Promise<readonly string[]> {
  const { entries } = await storage.range(prefix, { revision: 0, limit: 0, after: '' }, never);
  return entries.map((entry) => entry.key);
}

async function values(storage: Storage, options: Pick<RangeOptions, 'revision'>): Promise<string[]> {
  const { entries } = await storage.range('/', { limit: 0, after: '', ...options }, never);
  return entries.map((entry) => `${entry.key}=${textOf(entry.value)}@${entry.modRevision}`);
}
