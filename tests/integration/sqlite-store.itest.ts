import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { never, take, textOf, watching } from '#store/contracts/harness.ts';
import { storageContract } from '#store/contracts/storage.ts';
import { Database } from '#store/sqlite/database.ts';
import { openSqliteStorage } from '#store/sqlite/sqlite-storage.ts';

storageContract('SQLite', async () => {
  const clock = new FakeClock();
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-store-'));
  return {
    storage: await openSqliteStorage({ file: join(folder, 'store.db'), clock, logger: silentLogger }),
    passTime: (ms) => clock.advance(ms),
    dispose: () => rm(folder, { recursive: true }),
  };
});

interface Commit {
  readonly key: string;
  /** Empty: a deletion. */
  readonly value: string;
}

/** The most that the writer submits at once. */
const groupSize = 12;

test('killed at any moment, the store has all that it acknowledged', { timeout: 60_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-store-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  /** Every commit that was ever made, by its revision. */
  const commits = new Map<number, Commit>();
  const endAtMs = performance.now() + 15_000;
  let kills = 0;
  for (; kills < 25 && performance.now() < endAtMs; kills++) {
    const seed = 1 + Math.floor(Math.random() * 2 ** 31);
    for (const [revision, commit] of await writeUntilKilled(file, seed)) commits.set(revision, commit);
    await checkStore(file, commits, `seed ${seed}`);
    checkIntegrity(file);
  }
  t.diagnostic(`${kills} kills, ${commits.size} commits`);
  assert.ok(commits.size > 100, 'hardly anything was written');
});

/** The commits that the writer could acknowledge before it was killed, which may be while it opens the store. */
async function writeUntilKilled(file: string, seed: number): Promise<readonly (readonly [number, Commit])[]> {
  const script = fileURLToPath(new URL('../support/store-writer.ts', import.meta.url));
  const notes = `${file}.notes`;
  const writer = spawn(process.execPath, ['--import', 'tsx', script, file, notes, `${seed}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(writer, 'close');
  await Promise.race([once(writer.stdout, 'data'), closed]);
  await sleep(seed % 200);
  writer.kill('SIGKILL');
  await closed;
  assert.equal(writer.signalCode, 'SIGKILL', 'the writer ended by itself');
  const lines = (await readFile(notes, 'utf8')).split('\n').slice(0, -1); // the last one may be cut short
  return lines.map((line) => {
    const [revision = '', key = '', value = ''] = line.split(' ');
    return [Number(revision), { key, value }];
  });
}

/** Adds to `commits` those that were made without anybody being told, which can only be the last group's. */
async function checkStore(file: string, commits: Map<number, Commit>, hint: string): Promise<void> {
  const storage = await openSqliteStorage({ file, clock: systemClock, logger: silentLogger });
  const newest = Math.max(1, ...commits.keys());
  const untold = storage.revision() - newest;
  assert.ok(untold >= 0, `${hint}: the store is at ${storage.revision()}, ${newest} was acknowledged`);
  assert.ok(untold <= groupSize, `${hint}: ${untold} commits were made and not acknowledged`);
  assert.equal(commits.size, newest - 1, `${hint}: an acknowledged revision is missing`);
  if (untold > 0) {
    for (const { kind, entry } of await take(watching(storage, '/', newest + 1), untold)) {
      commits.set(entry.modRevision, { key: entry.key, value: kind === 'put' ? textOf(entry.value) : '' });
    }
  }
  const wanted = new Map<string, string>();
  for (const [revision, { key, value }] of [...commits].sort(([a], [b]) => a - b)) {
    if (value === '') wanted.delete(key);
    else wanted.set(key, `${revision} ${value}`);
  }
  const { entries } = await storage.range('/', { revision: 0, limit: 0, after: '' }, never);
  const found = new Map(entries.map((entry) => [entry.key, `${entry.modRevision} ${textOf(entry.value)}`]));
  for (const key of new Set([...wanted.keys(), ...found.keys()])) {
    const [want, have] = [wanted.get(key), found.get(key)];
    assert.ok(want === have, `${hint}: ${key} is ${have?.slice(0, 40)} and should be ${want?.slice(0, 40)}`);
  }
  await storage.close();
}

function checkIntegrity(file: string): void {
  const database = Database.open(file);
  assert.equal(database.prepare('PRAGMA integrity_check').first()?.['integrity_check'], 'ok');
  database.close();
}
