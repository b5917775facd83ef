import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys } from '../key-order.ts';
import { RevisionCompacted, type Storage, type StoredEntry } from '../storage.ts';
import { bytes, lineOf, never, type OpenStorage, take, textOf, watching } from './harness.ts';

/** What a store should hold, kept in the plainest way: a copy of everything for each revision. */
class Model {
  readonly snapshots: ReadonlyMap<string, ModelEntry>[] = [new Map(), new Map()];
  readonly events: (string | undefined)[] = [undefined, undefined];
  compacted = 0;

  get revision(): number {
    return this.snapshots.length - 1;
  }

  get now(): ReadonlyMap<string, ModelEntry> {
    return this.snapshots[this.revision] ?? new Map();
  }

  write(key: string, value: string | undefined): void {
    const old = this.now.get(key);
    const next = new Map(this.now);
    const revision = this.snapshots.length;
    if (value === undefined) {
      next.delete(key);
      this.events.push(`delete ${key}=${old?.value} c${old?.created} m${revision}`);
    } else {
      next.set(key, { value, created: old?.created ?? revision, modified: revision });
      const was = old === undefined ? '' : ` was ${old.value}@${old.modified}`;
      this.events.push(`put ${key}=${value} c${old?.created ?? revision} m${revision}${was}`);
    }
    this.snapshots.push(next);
  }

  list(revision: number, prefix: string, after: string): string[] {
    const keys = [...(this.snapshots[revision] ?? new Map<string, ModelEntry>())];
    return keys
      .filter(([key]) => key.startsWith(prefix) && (after === '' || compareKeys(key, after) > 0))
      .sort(([a], [b]) => compareKeys(a, b))
      .map(([key, entry]) => `${key}=${entry.value} c${entry.created} m${entry.modified}`);
  }
}

interface ModelEntry {
  readonly value: string;
  readonly created: number;
  readonly modified: number;
}

const keys = ['/a', '/a/b', '/a/\u00e9', '/b', '/b/\u{1F600}', '/b/\ufffd'] as const;
const key = fc.constantFrom(...keys);
/** How far behind the newest revision. */
const back = fc.nat(12);
const isRight = fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0);

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put'), key, value: fc.string({ maxLength: 3, unit: 'grapheme-ascii' }), isRight }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), key, isRight }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('burst'), keys: fc.uniqueArray(key) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('range'),
      prefix: fc.constantFrom('', '/', '/a', '/a/', '/b/'),
      after: fc.constantFrom('', ...keys),
      limit: fc.nat(4),
      back,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact'), back }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('watch'), prefix: fc.constantFrom('', '/a', '/b/'), back }) },
);

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Random histories against {@link Model}. */
export function modelContract(open: OpenStorage): void {
  test('after any history of operations every read is what a simple model says', async () => {
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 40, size: 'max' }), async (operations) => {
      const { storage, dispose } = await open();
      try {
        const model = new Model();
        const live = watching(storage, '', 0);
        for (const one of operations) await apply(one, storage, model);
        assert.equal(storage.revision(), model.revision);
        const wanted = model.events.slice(Math.max(2, model.compacted + 1));
        assert.deepEqual((await take(watching(storage, '', Math.max(2, model.compacted + 1)), wanted.length)).map(lineOf), wanted);
        // opened before all of them and never read until now
        if (model.compacted === 0) assert.deepEqual((await take(live, model.revision - 1)).map(lineOf), model.events.slice(2));
      } finally {
        await storage.close();
        await dispose();
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
}

async function apply(one: Operation, storage: Storage, model: Model): Promise<void> {
  switch (one.kind) {
    case 'put':
      return write(storage, model, one.key, one.value, one.isRight);
    case 'delete':
      return model.now.has(one.key) ? write(storage, model, one.key, undefined, one.isRight) : undefined;
    case 'burst':
      await Promise.all(one.keys.map((each) => write(storage, model, each, 'burst', true)));
      return;
    case 'range':
      return range(one, storage, model);
    case 'compact':
      return compact(storage, model, model.revision - one.back);
    case 'watch':
      return watch(storage, model, one.prefix, Math.max(2, model.revision - one.back));
  }
}

async function write(storage: Storage, model: Model, name: string, value: string | undefined, isExpected: boolean): Promise<void> {
  const current = model.now.get(name);
  const revision = current?.modified ?? 0;
  // a burst's writes are submitted in this order, so the model may run ahead of them
  if (isExpected) model.write(name, value);
  const { revision: at } = model;
  const expectedRevision = isExpected ? revision : revision + 1;
  const result = await storage.commit({ key: name, expectedRevision, value: value === undefined ? undefined : bytes(value), leaseId: 0 }, never);
  if (isExpected) assert.deepEqual(result, { kind: 'committed', revision: at });
  else {
    assert.ok(result.kind === 'conflict');
    assert.equal(result.revision, at);
    assert.equal(
      result.current === undefined ? undefined : line(result.current),
      model.list(at, name, '').find((entry) => entry.startsWith(`${name}=`)),
    );
  }
}

async function range(one: Extract<Operation, { kind: 'range' }>, storage: Storage, model: Model): Promise<void> {
  const revision = Math.max(1, model.revision - one.back);
  const reading = storage.range(one.prefix, { revision, limit: one.limit, after: one.after }, never);
  if (revision < model.compacted) return assert.rejects(reading, RevisionCompacted);
  const wanted = model.list(revision, one.prefix, one.after);
  const result = await reading;
  assert.deepEqual(result.entries.map(line), one.limit === 0 ? wanted : wanted.slice(0, one.limit));
  assert.equal(result.hasMore, one.limit > 0 && wanted.length > one.limit);
  assert.equal(result.revision, revision);
}

async function compact(storage: Storage, model: Model, revision: number): Promise<void> {
  if (revision <= model.compacted) return assert.rejects(storage.compact(revision, never), RevisionCompacted);
  await storage.compact(revision, never);
  model.compacted = revision;
}

async function watch(storage: Storage, model: Model, prefix: string, fromRevision: number): Promise<void> {
  const events = watching(storage, prefix, fromRevision);
  if (fromRevision < model.compacted) return assert.rejects(events.next(), RevisionCompacted);
  if (fromRevision <= model.compacted) return; // at the very revision, a store may have forgotten what was there before
  const wanted = model.events.slice(fromRevision).filter((event) => event?.split(' ')[1]?.startsWith(prefix));
  assert.deepEqual((await take(events, wanted.length)).map(lineOf), wanted);
}

function line(entry: StoredEntry): string {
  return `${entry.key}=${textOf(entry.value)} c${entry.createRevision} m${entry.modRevision}`;
}
