/**
 * Commits to a store as fast as it can and notes each commit that was acknowledged, until it is killed: what a control plane looks like
 * to its store. Prints a line before it opens the store.
 *
 * usage: store-writer.ts FILE NOTES SEED
 */
import { openSync, writeSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { openSqliteStorage } from '#store/sqlite/sqlite-storage.ts';

const [file = '', notesFile = '', seedText = '1'] = process.argv.slice(2);
// a file, because what is in it when the process is killed stays; a pipe may be full
const notes = openSync(notesFile, 'w');
const never = new AbortController().signal;
let seed = Number(seedText);

/** A whole number below `limit`, the same sequence for the same seed (xorshift). */
function random(limit: number): number {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % limit;
}

process.stdout.write('opening\n');
const storage = await openSqliteStorage({ file, clock: systemClock, logger: silentLogger });
const { entries } = await storage.range('/', { revision: 0, limit: 0, after: '' }, never);
const revisions = new Map(entries.map((entry) => [entry.key, entry.modRevision]));

async function writeOne(key: string, round: number): Promise<void> {
  const expectedRevision = revisions.get(key) ?? 0;
  const text = expectedRevision > 0 && random(4) === 0 ? undefined : `${round}-${random(1e9)}-${'x'.repeat(random(6000))}`;
  const value = text === undefined ? undefined : Buffer.from(text);
  const result = await storage.commit({ key, expectedRevision, value, leaseId: 0 }, never);
  if (result.kind !== 'committed') throw new Error(`${key} was not at ${expectedRevision}`);
  writeSync(notes, `${result.revision} ${key} ${text ?? ''}\n`);
  if (text === undefined) revisions.delete(key);
  else revisions.set(key, result.revision);
}

for (let round = 0; ; round++) {
  const keys = new Set(Array.from({ length: 1 + random(12) }, () => `/key/${random(200)}`));
  await Promise.all([...keys].map((key) => writeOne(key, round)));
  if (round % 40 === 39) await storage.compact(storage.revision() - random(20), never);
}
