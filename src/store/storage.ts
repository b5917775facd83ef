import { AppError } from '#base/errors.ts';

/** One live key. Revisions are etcd's: one counter for the whole store, raised by each commit. */
export interface StoredEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
}

export type StorageEvent =
  /** `previous` is `undefined` when the key is new. */
  | { readonly kind: 'put'; readonly entry: StoredEntry; readonly previous: StoredEntry | undefined }
  /** `entry` is what was deleted, with the revision of its deletion as `modRevision`. */
  | { readonly kind: 'delete'; readonly entry: StoredEntry };

export interface Write {
  readonly key: string;
  /** The write takes place only if the key's `modRevision` is this; 0: the key must not exist. */
  readonly expectedRevision: number;
  /** `undefined` deletes the key; `expectedRevision` is then above 0. The bytes are kept, not copied: nobody may change them later. */
  readonly value: Uint8Array | undefined;
  /** The key goes when the lease ends; 0: it stays, also when an earlier write put it under a lease. */
  readonly leaseId: number;
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: number }
  /** Nothing was written; `current` is the entry that stood in the way, `undefined` when there is none. */
  | { readonly kind: 'conflict'; readonly current: StoredEntry | undefined; readonly revision: number };

export interface RangeOptions {
  /** Reads the store as it was then; 0: as it is now. */
  readonly revision: number;
  /** At most this many entries; 0: all. */
  readonly limit: number;
  /** Only keys above this one, in byte order; '' : from the start of the prefix. */
  readonly after: string;
}

export interface RangeResult {
  /** In byte order of their keys. */
  readonly entries: readonly StoredEntry[];
  /** The revision that was read. */
  readonly revision: number;
  readonly hasMore: boolean;
}

/**
 * Storage with etcd's semantics: a global revision, compare-and-commit on one key, reads at a revision, watches from a revision,
 * compaction, leases. What `commit` acknowledged is durable.
 */
export interface Storage {
  /** The newest committed revision that this process knows; a fresh store is at 1 (etcd's rule). */
  revision(): number;
  get(key: string, signal: AbortSignal): Promise<StoredEntry | undefined>;
  /** @throws {RevisionCompacted} {@link RevisionInFuture} */
  range(prefix: string, options: RangeOptions, signal: AbortSignal): Promise<RangeResult>;
  /**
   * Writes one key if it is as expected. After a failure other than those below only reading tells whether the write took place.
   *
   * @throws {InvalidInput} for a key that is empty, holds a zero byte or half a surrogate pair
   * @throws {ValueTooLarge} for more than `maxValueBytes`
   * @throws {NotFound} when the lease has ended
   */
  commit(write: Write, signal: AbortSignal): Promise<CommitResult>;
  /**
   * Every event under the prefix from `fromRevision` on (0: from the next commit after this call), in order, in batches that never
   * split a revision; past events first. The loop ends only by its signal, by `close`, or with a failure. A reader that falls behind is
   * served from the history; once compaction has passed it, it is cut off with `RevisionCompacted`, never with a gap.
   *
   * @throws {RevisionCompacted} when `fromRevision` is below the compacted one
   */
  watch(prefix: string, fromRevision: number, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]>;
  /** Forgets the history below `revision`; what lived at `revision` stays. @throws {RevisionCompacted} {@link RevisionInFuture} */
  compact(revision: number, signal: AbortSignal): Promise<void>;
  /**
   * Leases outlive a restart of the store; their time then starts again.
   *
   * @returns the lease's id, > 0
   * @throws {InvalidInput} when `ttlSeconds` is not an integer above 0
   */
  grantLease(ttlSeconds: number, signal: AbortSignal): Promise<number>;
  /** Starts the lease's time again. @throws {NotFound} when it has ended */
  keepLeaseAlive(leaseId: number, signal: AbortSignal): Promise<void>;
  /** Ends the lease and deletes its keys; a lease that has ended is no error. */
  revokeLease(leaseId: number, signal: AbortSignal): Promise<void>;
  /** What was submitted is still committed; watches and all later calls end with `Cancelled`. May be called twice. */
  close(): Promise<void>;
}

/** The history that was asked for is gone (etcd: "required revision has been compacted"). */
export class RevisionCompacted extends AppError {
  readonly code = 'REVISION_COMPACTED';
  readonly retry = 'never';
}

/** A revision that the store has not reached (etcd: "required revision is a future revision"). */
export class RevisionInFuture extends AppError {
  readonly code = 'REVISION_IN_FUTURE';
  readonly retry = 'backoff';
}

/** etcd's limit of a request: what fits here fits there. */
export const maxValueBytes = 1.5 * 1024 * 1024;

/** More than the store takes under one key. */
export class ValueTooLarge extends AppError {
  readonly code = 'VALUE_TOO_LARGE';
  readonly retry = 'never';
}
