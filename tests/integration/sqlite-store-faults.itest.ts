import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { AppError, Cancelled } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { bytes, lineOf, never, put, take, watching } from '#store/contracts/harness.ts';
import { Database } from '#store/sqlite/database.ts';
import { StoreDamaged, StoreFailed, StoreFull, StoreInUse, StoreTooNew } from '#store/sqlite/errors.ts';
import { openSqliteStorage } from '#store/sqlite/sqlite-storage.ts';
import type { Storage } from '#store/storage.ts';

// One test fills a file system: it runs in a child with a mount namespace of its own, so that nothing can stay on the host.
const INSIDE = 'inside';
const script = fileURLToPath(import.meta.url);

function open(file: string, clock = new FakeClock()): Promise<Storage> {
  return openSqliteStorage({ file, clock, logger: silentLogger });
}

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubernode-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'data', 'store.db');
}

/** Expects an error of that class which names the file and says what to do. */
async function failsWith(work: Promise<unknown>, kind: abstract new (...args: never) => AppError, file: string): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof AppError && error instanceof kind, String(error));
    assert.ok(error.message.includes(file), error.message);
    assert.ok(error.hint !== undefined);
    return true;
  });
}

if (process.argv[2] === INSIDE) {
  test('on a full disk commits fail and leave nothing, with room again they work', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubernode-store-'));
    assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]).status, 0);
    t.after(() => {
      assert.equal(spawnSync('umount', ['-l', folder]).status, 0);
      rmdirSync(folder);
    });
    const file = join(folder, 'store.db');
    const storage = await open(file);
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(1_000_000));

    const events = watching(storage, '/', 0);
    let revision = await put(storage, '/key', 'first');
    const large = Buffer.alloc(50_000, 'x');
    const writeLarge = () => storage.commit({ key: '/key', value: large, expectedRevision: revision, leaseId: 0 }, never);
    const fill = async () => {
      for (;;) {
        const result = await writeLarge();
        assert.ok(result.kind === 'committed');
        revision = result.revision;
      }
    };
    await failsWith(fill(), StoreFull, file);
    const small = { key: '/small', value: bytes('x'), expectedRevision: 0, leaseId: 0 };
    // of one transaction: the small one does not get through alone
    await Promise.all([storage.commit(small, never), writeLarge()].map((commit) => failsWith(commit, StoreFull, file)));
    assert.equal(await storage.get('/small', never), undefined);
    assert.equal(storage.revision(), revision);
    assert.equal((await storage.get('/key', never))?.modRevision, revision);

    rmSync(join(folder, 'ballast'));
    assert.equal(await put(storage, '/key', 'last', revision), revision + 1);
    const last = (await take(events, revision)).at(-1);
    assert.equal(last?.entry.modRevision, revision + 1);
    await storage.close();

    const again = await open(file);
    assert.equal(again.revision(), revision + 1);
    assert.deepEqual((await again.get('/key', never))?.value, bytes('last'));
    await again.close();
  });
} else {
  test('full disk, in a mount namespace of its own', { skip: process.getuid?.() === 0 ? false : 'only root can mount' }, () => {
    const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const child = spawnSync('unshare', ['-m', process.execPath, '--import', 'tsx', script, INSIDE], { encoding: 'utf8', env: environment });
    assert.equal(child.status, 0, `${child.stdout}\n${child.stderr}`);
  });

  test('what was committed is there after a restart: entries, history, revision', async (t) => {
    const file = newFile(t);
    const first = await open(file);
    await put(first, '/a', '1');
    await put(first, '/b', '1');
    await put(first, '/a', '2', 2);
    await first.compact(3, never);
    await first.close();
    const second = await open(file);
    assert.equal(second.revision(), 4);
    assert.deepEqual((await take(watching(second, '/', 3), 2)).map(lineOf), ['put /b=1 c3 m3', 'put /a=2 c2 m4 was 1@2']);
    await assert.rejects(second.compact(3, never));
    assert.equal(await put(second, '/a', '3', 4), 5);
    await second.close();
  });

  test('leases outlive a restart, their time starts again, and their ids are never given twice', async (t) => {
    const file = newFile(t);
    const clock = new FakeClock();
    const first = await open(file, clock);
    const lease = await first.grantLease(10, never);
    await put(first, '/a', '1', 0, lease);
    const ended = await first.grantLease(10, never);
    await first.revokeLease(ended, never);
    await clock.advance(9_000);
    await first.close();
    const second = await open(file, clock);
    await clock.advance(9_000);
    await second.keepLeaseAlive(lease, never);
    const fresh = await second.grantLease(60, never);
    assert.ok(fresh !== lease && fresh !== ended);
    await clock.advance(11_000);
    assert.equal(await second.get('/a', never), undefined);
    await second.close();
  });

  test('files and folder belong to their owner alone, also while the store is open', async (t) => {
    const file = newFile(t);
    const storage = await open(file);
    await put(storage, '/a', '1');
    const modes = readdirSync(dirname(file)).map((name) => [name, (statSync(join(dirname(file), name)).mode & 0o777).toString(8)]);
    assert.deepEqual(modes, [
      ['store.db', '600'],
      ['store.db-wal', '600'],
    ]);
    assert.equal((statSync(dirname(file)).mode & 0o777).toString(8), '700');
    await storage.close();
    assert.deepEqual(readdirSync(dirname(file)), ['store.db']);
  });

  test('a commit is on the disk before it is answered', (t) => {
    const database = Database.open(newFile(t));
    assert.equal(database.prepare('PRAGMA synchronous').first()?.['synchronous'], 2); // FULL
    assert.equal(database.prepare('PRAGMA journal_mode').first()?.['journal_mode'], 'wal');
    database.close();
  });

  test('a store is open once: in this process, and on this host', async (t) => {
    const file = newFile(t);
    const storage = await open(file);
    await failsWith(open(file), StoreInUse, file);
    const source = `
      import { Database } from '#store/sqlite/database.ts';
      try { Database.open(process.argv[1]); console.log('opened'); } catch (error) { console.log(error.code); }
    `;
    const openElsewhere = () => {
      const options = { encoding: 'utf8', cwd: fileURLToPath(new URL('../..', import.meta.url)) } as const;
      return spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source, file], options).stdout.trim();
    };
    assert.equal(openElsewhere(), 'STORE_IN_USE');
    assert.equal(await put(storage, '/a', '1'), 2);
    await storage.close();
    assert.equal(openElsewhere(), 'opened');
    const again = await open(file);
    assert.equal(again.revision(), 2);
    await again.close();
  });

  test('a store of a newer version and files that are no store are left alone', async (t) => {
    const file = newFile(t);
    await (await open(file)).close();
    const database = Database.open(file);
    database.exec('UPDATE state SET schema_version = 99');
    database.close();
    await failsWith(open(file), StoreTooNew, file);
    await failsWith(open(file), StoreTooNew, file); // and not "in use" by the attempt before

    const foreign = join(dirname(file), 'foreign.db');
    const other = Database.open(foreign);
    other.exec('CREATE TABLE log (line TEXT)');
    other.close();
    await failsWith(open(foreign), StoreDamaged, foreign);

    const text = join(dirname(file), 'text.db');
    writeFileSync(text, 'no database at all '.repeat(1000));
    await failsWith(open(text), StoreDamaged, text);
    await failsWith(open(join(text, 'store.db')), StoreFailed, text);
  });

  test('compaction gives its room back', async (t) => {
    const file = newFile(t);
    const storage = await open(file);
    const value = Buffer.alloc(10_000);
    let revision = 0;
    for (let i = 0; i < 1000; i++) {
      const result = await storage.commit({ key: '/a', value, expectedRevision: revision, leaseId: 0 }, never);
      revision = result.revision;
    }
    await storage.compact(revision, never);
    await storage.close();
    await assert.rejects(storage.get('/a', never), Cancelled);
    assert.ok(statSync(file).size < 5_000_000, `${statSync(file).size} bytes are left`);
    const again = await openSqliteStorage({ file, clock: systemClock, logger: silentLogger });
    assert.equal((await again.get('/a', never))?.value.length, 10_000);
    await again.close();
  });
}
