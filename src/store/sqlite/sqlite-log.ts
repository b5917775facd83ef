import { endOfPrefix } from '../key-order.ts';
import { eventOf, isLive, type LeaseRow, type LiveRow, type LogRow, type RevisionLog } from '../log/revision-log.ts';
import type { RangeOptions, StorageEvent } from '../storage.ts';
import { bytesIn, type Database, numberIn, type SqlRow, textIn } from './database.ts';
import { prepareStatements, type Statements } from './statements.ts';

/** Revisions whose surplus rows one `sweep` removes: commits wait that long for it, a few milliseconds. */
const sweepRevisions = 200;
/** Pages that one `sweep` gives back to the file system; a page has 4 KB. */
const shrinkPages = 500;
/** Fewer free pages than these are not worth the work. */
const keptPages = 250;
/** A blob sorts after every text: the end of a prefix that has none. */
const afterAllKeys = new Uint8Array(0);
/** SQLite's way to say no limit. */
const unlimited = -1;

/** The log in a SQLite file. Owns the database. */
export class SqliteLog implements RevisionLog {
  readonly #database: Database;
  readonly #statements: Statements;
  #revision: number;
  #compactedRevision: number;
  #isClosed = false;

  /** @param database with the tables of `schema.ts` */
  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#revision = numberIn(this.#statements.newestRevision.first(), 'revision');
    this.#compactedRevision = numberIn(this.#statements.state.first(), 'compacted_revision');
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  atomically<T>(work: () => T): T {
    const before = { revision: this.#revision, compactedRevision: this.#compactedRevision };
    try {
      return this.#database.atomically(work);
    } catch (error) {
      this.#revision = before.revision;
      this.#compactedRevision = before.compactedRevision;
      throw error;
    }
  }

  append(row: LogRow): void {
    const { revision, key, createRevision, previousRevision, leaseId, value } = row;
    this.#statements.append.run(revision, key, createRevision, previousRevision, leaseId, value ?? null);
    this.#revision = revision;
  }

  live(key: string): LiveRow | undefined {
    const row = this.#statements.newestOfKey.first(key);
    return row === undefined ? undefined : liveOnly(rowIn(row, ''))[0];
  }

  range(prefix: string, options: RangeOptions): readonly LiveRow[] {
    const { revision, limit, after } = options;
    const end = endOfPrefix(prefix) ?? afterAllKeys;
    const rows = this.#statements.range.all(prefix, end, after, revision, limit === 0 ? unlimited : limit);
    return rows.flatMap((row) => liveOnly(rowIn(row, '')));
  }

  events(prefix: string, fromRevision: number, limit: number): readonly StorageEvent[] {
    const rows = this.#statements.events.all(prefix, endOfPrefix(prefix) ?? afterAllKeys, fromRevision, limit);
    return rows.map((row) => eventOf(rowIn(row, ''), row['old_key'] === null ? undefined : liveOnly(rowIn(row, 'old_'))[0]));
  }

  setCompacted(revision: number): void {
    this.#statements.setCompacted.run(revision);
    this.#compactedRevision = revision;
  }

  sweep(): boolean {
    const from = numberIn(this.#statements.state.first(), 'swept_revision');
    if (from >= this.#compactedRevision) return this.#shrink();
    const to = Math.min(this.#compactedRevision, from + sweepRevisions);
    this.#statements.removeReplaced.run(from, to);
    this.#statements.removeDeletions.run(from, to);
    this.#statements.setSwept.run(to);
    return true;
  }

  addLease(ttlSeconds: number): number {
    this.#statements.addLease.run(ttlSeconds);
    return numberIn(this.#statements.newestLease.first(), 'lease_id');
  }

  removeLease(leaseId: number): void {
    this.#statements.removeLease.run(leaseId);
  }

  leases(): readonly LeaseRow[] {
    return this.#statements.leases.all().map((row) => ({ leaseId: numberIn(row, 'lease_id'), ttlSeconds: numberIn(row, 'ttl_seconds') }));
  }

  keysOfLease(leaseId: number): readonly string[] {
    const keys = this.#statements.keysOfLease.all(leaseId).map((row) => textIn(row, 'key'));
    return keys.filter((key) => this.live(key)?.leaseId === leaseId); // the index has their past too
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.close();
  }

  /** Gives back free pages while they are the larger part of the file; otherwise the next commits use them. */
  #shrink(): boolean {
    const before = this.#statements.pages.first();
    const free = numberIn(before, 'free');
    if (free < keptPages || free < numberIn(before, 'pages') / 2) return false;
    this.#database.exec(`PRAGMA incremental_vacuum(${shrinkPages})`);
    return numberIn(this.#statements.pages.first(), 'free') < free;
  }
}

function liveOnly(row: LogRow): readonly LiveRow[] {
  return isLive(row) ? [row] : [];
}

function rowIn(row: SqlRow, columns: '' | 'old_'): LogRow {
  return {
    revision: numberIn(row, `${columns}revision`),
    key: textIn(row, `${columns}key`),
    value: bytesIn(row, `${columns}value`),
    createRevision: numberIn(row, `${columns}create_revision`),
    previousRevision: numberIn(row, `${columns}previous_revision`),
    leaseId: numberIn(row, `${columns}lease_id`),
  };
}
