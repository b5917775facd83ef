import assert from 'node:assert/strict';
import { Cancelled } from '#base/errors.ts';
import { RevisionCompacted, type Storage } from '../storage.ts';
import { lineOf, never, type OpenStorage, put, remove, take, watching, withStorage } from './harness.ts';

export function watchContract(open: OpenStorage): void {
  withStorage(open, 'a watch tells the past first and goes on with what comes', async (storage) => {
    await put(storage, '/a', '1');
    await put(storage, '/a', '2', 2);
    const events = watching(storage, '/', 2);
    assert.deepEqual((await take(events, 2)).map(lineOf), ['put /a=1 c2 m2', 'put /a=2 c2 m3 was 1@2']);
    await remove(storage, '/a', 3);
    await put(storage, '/a', '3');
    assert.deepEqual((await take(events, 2)).map(lineOf), ['delete /a=2 c2 m4', 'put /a=3 c5 m5']);
  });

  withStorage(open, 'a watch from 0 begins with the next commit', async (storage) => {
    await put(storage, '/a', '1');
    const events = watching(storage, '/', 0);
    await put(storage, '/a', '2', 2);
    assert.deepEqual((await take(events, 1)).map(lineOf), ['put /a=2 c2 m3 was 1@2']);
  });

  withStorage(open, 'a watch from a future revision waits for it', async (storage) => {
    const events = watching(storage, '/', 3);
    const first = take(events, 1);
    await put(storage, '/a', '1');
    await put(storage, '/b', '1');
    assert.deepEqual((await first).map(lineOf), ['put /b=1 c3 m3']);
  });

  withStorage(open, 'a watch sees its prefix only', async (storage) => {
    const events = watching(storage, '/p/', 0);
    for (const key of ['/p', '/p/a', '/p0', '/q', '/p/b']) await put(storage, key, key);
    assert.deepEqual((await take(events, 2)).map(lineOf), ['put /p/a=/p/a c3 m3', 'put /p/b=/p/b c6 m6']);
  });

  withStorage(open, 'every watch gets every event of a burst, in order', async (storage) => {
    const count = 3000;
    const watches = [watching(storage, '/', 0), watching(storage, '/', 2), watching(storage, '/k1', 0)];
    const early = take(watches[0] ?? assert.fail(), count);
    await burst(storage, count);
    const wanted = Array.from({ length: count }, (_, i) => i + 2);
    assert.deepEqual(
      (await early).map((event) => event.entry.modRevision),
      wanted,
    );
    const late = await take(watches[1] ?? assert.fail(), count);
    assert.deepEqual(
      late.map((event) => event.entry.modRevision),
      wanted,
    );
    const some = late.filter((event) => event.entry.key.startsWith('/k1'));
    assert.deepEqual((await take(watches[2] ?? assert.fail(), some.length)).map(lineOf), some.map(lineOf));
  });

  withStorage(open, 'a watch ends when its signal is aborted, also while it waits', async (storage) => {
    const controller = new AbortController();
    const events = watching(storage, '/', 0, controller.signal);
    const waiting = events.next();
    controller.abort();
    await assert.rejects(waiting, Cancelled);
    await assert.rejects(async () => watching(storage, '/', 0, AbortSignal.abort()).next(), Cancelled);
  });

  withStorage(open, 'a watch ends when the store is closed', async (storage) => {
    const waiting = watching(storage, '/', 0).next();
    const ended = assert.rejects(waiting, Cancelled);
    await storage.close();
    await ended;
  });

  withStorage(open, 'a watch from below the compacted revision fails, one from above it gets all', async (storage) => {
    for (const revision of [0, 2, 3, 4]) await put(storage, '/a', `${revision}`, revision);
    await storage.compact(4, never);
    await assert.rejects(async () => watching(storage, '/', 3).next(), RevisionCompacted);
    assert.deepEqual((await take(watching(storage, '/', 5), 1)).map(lineOf), ['put /a=4 c2 m5 was 3@4']);
  });

  withStorage(open, 'a deletion just above the compacted revision still says what was deleted', async (storage) => {
    await put(storage, '/a', '1');
    await remove(storage, '/a', 2);
    await storage.compact(2, never);
    assert.deepEqual((await take(watching(storage, '/', 3), 1)).map(lineOf), ['delete /a=1 c2 m3']);
  });

  withStorage(open, 'a reader that compaction passes is served in full or cut off, never with a gap', async (storage) => {
    const events = watching(storage, '/', 0);
    await burst(storage, 1500);
    let last = (await events.next()).value?.at(-1)?.entry.modRevision;
    await burst(storage, 1500);
    await storage.compact(storage.revision(), never);
    try {
      while (last !== storage.revision()) {
        const next = await events.next();
        for (const event of next.done === true ? [] : next.value) {
          assert.equal(event.entry.modRevision, last + 1);
          last = event.entry.modRevision;
        }
      }
    } catch (error) {
      assert.ok(error instanceof RevisionCompacted, String(error));
    }
  });
}

/** Many commits at once. */
async function burst(storage: Storage, count: number): Promise<void> {
  const first = storage.revision();
  await Promise.all(Array.from({ length: count }, (_, i) => put(storage, `/k${first + i}`, 'x')));
}
