import type { RangeOptions, StorageEvent, StoredEntry } from '../storage.ts';

/** One commit. */
export interface LogRow {
  readonly revision: number;
  readonly key: string;
  /** `undefined`: the commit deleted the key. */
  readonly value: Uint8Array | undefined;
  /** Revision of the commit that made the key; kept over its updates. */
  readonly createRevision: number;
  /** Revision of the live row that this one took the place of; 0: there was none. */
  readonly previousRevision: number;
  readonly leaseId: number;
}

export type LiveRow = LogRow & { readonly value: Uint8Array };

export interface LeaseRow {
  readonly leaseId: number;
  readonly ttlSeconds: number;
}

/**
 * An append-only list of commits with its lookups: what `LogStorage` needs from a medium. Every call is synchronous: a transaction is
 * never left open over a turn of the event loop.
 */
export interface RevisionLog {
  /** The newest revision in the log, 1 when nothing was ever committed. */
  readonly revision: number;
  /** History below this is forgotten; 0: nothing is. */
  readonly compactedRevision: number;
  /** All that `work` writes, or, when it throws or the medium fails, nothing. Durable when this returns. */
  atomically<T>(work: () => T): T;
  append(row: LogRow): void;
  /** The row that makes up the key's present, `undefined` when the key is not there. */
  live(key: string): LiveRow | undefined;
  /** Live rows as of `options.revision` (> 0) in byte order of their keys. */
  range(prefix: string, options: RangeOptions): readonly LiveRow[];
  /** Events under the prefix from a revision on, oldest first, at most `limit`. */
  events(prefix: string, fromRevision: number, limit: number): readonly StorageEvent[];
  /** Sets `compactedRevision`; the rows go by `sweep`. */
  setCompacted(revision: number): void;
  /** Removes a bounded number of rows that compaction made useless; true while some are left. */
  sweep(): boolean;
  /** @returns an id that was never given before */
  addLease(ttlSeconds: number): number;
  removeLease(leaseId: number): void;
  leases(): readonly LeaseRow[];
  /** Keys whose present row carries the lease. */
  keysOfLease(leaseId: number): readonly string[];
  /** May be called twice. */
  close(): void;
}

export function isLive(row: LogRow): row is LiveRow {
  return row.value !== undefined;
}

export function entryOf(row: LiveRow): StoredEntry {
  return { key: row.key, value: row.value, createRevision: row.createRevision, modRevision: row.revision };
}

/** @param previous the live row that `row` took the place of */
export function eventOf(row: LogRow, previous: LiveRow | undefined): StorageEvent {
  if (isLive(row)) return { kind: 'put', entry: entryOf(row), previous: previous === undefined ? undefined : entryOf(previous) };
  if (previous === undefined) throw new Error(`revision ${row.revision} deletes ${row.key}, which was not there`);
  return { kind: 'delete', entry: { ...entryOf(previous), modRevision: row.revision } };
}
