import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { Cancelled, InvalidInput, NotFound } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import { checkKey } from '../key-order.ts';
import {
  type CommitResult,
  maxValueBytes,
  type RangeOptions,
  type RangeResult,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  type StorageEvent,
  type StoredEntry,
  ValueTooLarge,
  type Write,
} from '../storage.ts';
import { CommitQueue, Refused } from './commit-queue.ts';
import { LeaseTimers } from './lease-timers.ts';
import { RecentEvents } from './recent-events.ts';
import { entryOf, eventOf, type LiveRow, type LogRow, type RevisionLog } from './revision-log.ts';

/** Events that are kept in memory for readers that keep up: a few megabytes of pods at most. */
const recentEvents = 250;
/** Past events that one read of the log hands to a watch. */
const pastBatch = 500;
/** How soon the end of a lease is tried again when the log could not be written. */
const leaseRetryMs = 1000;

interface Progress {
  readonly revision: number;
  readonly isClosed: boolean;
}

/** `Storage` in one process over a log that this process alone writes. Owns the log. */
export class LogStorage implements Storage {
  readonly #log: RevisionLog;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #queue: CommitQueue;
  readonly #leases: LeaseTimers;
  readonly #recent: RecentEvents;
  readonly #progress: Cell<Progress>;
  /** Events of the transaction that is being made. */
  #pending: StorageEvent[] = [];

  /** @param log freshly opened; leases that are in it start their time again */
  constructor(log: RevisionLog, clock: Clock, logger: Logger) {
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.#queue = new CommitQueue(
      log,
      () => this.#publish(),
      () => {
        this.#pending = [];
      },
    );
    this.#recent = new RecentEvents(log.revision + 1, recentEvents);
    this.#progress = new Cell<Progress>({ revision: log.revision, isClosed: false });
    this.#leases = new LeaseTimers(clock, (leaseId) => this.#expire(leaseId));
    for (const lease of log.leases()) this.#leases.start(lease);
  }

  revision(): number {
    return this.#progress.get().revision;
  }

  async get(key: string, signal: AbortSignal): Promise<StoredEntry | undefined> {
    this.#checkOpen(signal);
    checkKey(key);
    const row = this.#log.live(key);
    return row === undefined ? undefined : entryOf(row);
  }

  async range(prefix: string, options: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    this.#checkOpen(signal);
    const revision = options.revision === 0 ? this.revision() : options.revision;
    this.#checkHistory(revision);
    if (revision > this.revision()) throw inFuture(revision, this.revision());
    // one more than asked for tells whether there are more
    const rows = this.#log.range(prefix, { ...options, revision, limit: options.limit === 0 ? 0 : options.limit + 1 });
    const hasMore = options.limit > 0 && rows.length > options.limit;
    return { entries: (hasMore ? rows.slice(0, options.limit) : rows).map(entryOf), revision, hasMore };
  }

  async commit(write: Write, signal: AbortSignal): Promise<CommitResult> {
    this.#checkOpen(signal);
    checkKey(write.key);
    if ((write.value?.byteLength ?? 0) > maxValueBytes) throw new ValueTooLarge({ message: 'etcdserver: request is too large' });
    if (write.value === undefined && write.expectedRevision === 0) {
      throw new InvalidInput({ message: `a deletion of ${write.key} must name the revision it deletes` });
    }
    return this.#queue.submit(() => this.#compareAndAppend(write), signal);
  }

  watch(prefix: string, fromRevision: number, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]> {
    return this.#follow(prefix, fromRevision === 0 ? this.revision() + 1 : fromRevision, signal);
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    this.#checkOpen(signal);
    await this.#queue.submit(() => {
      if (revision <= this.#log.compactedRevision) return new Refused(compacted(revision, this.#log.compactedRevision));
      if (revision > this.#log.revision) return new Refused(inFuture(revision, this.#log.revision));
      return this.#log.setCompacted(revision);
    }, signal);
    // a transaction of its own for each part, so that commits get through between them
    while (await this.#queue.submit(() => this.#log.sweep(), signal)) this.#checkOpen(signal);
  }

  async grantLease(ttlSeconds: number, signal: AbortSignal): Promise<number> {
    this.#checkOpen(signal);
    if (!Number.isInteger(ttlSeconds) || ttlSeconds <= 0) throw new InvalidInput({ message: `a lease cannot last ${ttlSeconds} s` });
    const leaseId = await this.#queue.submit(() => this.#log.addLease(ttlSeconds), signal);
    if (!this.#progress.get().isClosed) this.#leases.start({ leaseId, ttlSeconds });
    return leaseId;
  }

  async keepLeaseAlive(leaseId: number, signal: AbortSignal): Promise<void> {
    this.#checkOpen(signal);
    if (!this.#leases.restart(leaseId)) throw noLease(leaseId);
  }

  async revokeLease(leaseId: number, signal: AbortSignal): Promise<void> {
    this.#checkOpen(signal);
    await this.#endLease(leaseId, signal);
  }

  async close(): Promise<void> {
    if (this.#progress.get().isClosed) return;
    this.#queue.flush();
    this.#leases.stopAll();
    this.#progress.set({ revision: this.revision(), isClosed: true });
    this.#log.close();
  }

  #compareAndAppend(write: Write): CommitResult | Refused {
    if (write.leaseId !== 0 && !this.#leases.isAlive(write.leaseId)) return new Refused(noLease(write.leaseId));
    const current = this.#log.live(write.key);
    if ((current?.revision ?? 0) !== write.expectedRevision) {
      return { kind: 'conflict', current: current === undefined ? undefined : entryOf(current), revision: this.#log.revision };
    }
    return { kind: 'committed', revision: this.#append(write, current) };
  }

  #append(write: Pick<Write, 'key' | 'value' | 'leaseId'>, current: LiveRow | undefined): number {
    const { key, value } = write;
    const leaseId = value === undefined ? 0 : write.leaseId;
    const revision = this.#log.revision + 1;
    const createRevision = current?.createRevision ?? revision;
    const row: LogRow = { revision, key, value, createRevision, previousRevision: current?.revision ?? 0, leaseId };
    this.#log.append(row);
    this.#pending.push(eventOf(row, current));
    return revision;
  }

  #publish(): void {
    const events = this.#pending;
    if (events.length === 0) return;
    this.#pending = [];
    this.#recent.add(events);
    this.#progress.set({ revision: this.#log.revision, isClosed: false });
  }

  async *#follow(prefix: string, fromRevision: number, signal: AbortSignal): AsyncGenerator<readonly StorageEvent[], void, void> {
    let next = fromRevision;
    for (;;) {
      this.#checkOpen(signal);
      this.#checkHistory(next);
      const now = this.revision();
      if (next > now) {
        const wanted = next;
        await waitFor(this.#progress, (progress) => progress.isClosed || progress.revision >= wanted, signal);
        continue;
      }
      const { events, upTo } = this.#read(prefix, next, now);
      next = upTo + 1;
      if (events.length > 0) yield events;
    }
  }

  #read(prefix: string, fromRevision: number, now: number): { readonly events: readonly StorageEvent[]; readonly upTo: number } {
    const recent = this.#recent.from(fromRevision);
    if (recent !== undefined) return { events: recent.filter((event) => event.entry.key.startsWith(prefix)), upTo: now };
    const events = this.#log.events(prefix, fromRevision, pastBatch);
    const isFull = events.length === pastBatch;
    return { events, upTo: isFull ? (events.at(-1)?.entry.modRevision ?? now) : now };
  }

  /** The keys go in the same transaction as the lease: after a crash there is both or neither. */
  async #endLease(leaseId: number, signal: AbortSignal): Promise<void> {
    this.#leases.stop(leaseId);
    await this.#queue.submit(() => {
      for (const key of this.#log.keysOfLease(leaseId)) {
        const current = this.#log.live(key);
        if (current !== undefined) this.#append({ key, value: undefined, leaseId: 0 }, current);
      }
      this.#log.removeLease(leaseId);
    }, signal);
  }

  #expire(leaseId: number): void {
    this.#endLease(leaseId, new AbortController().signal).catch((error: unknown) => {
      if (this.#progress.get().isClosed) return;
      this.#logger.error('a lease could not be ended, will try again', { leaseId, error });
      this.#clock.after(leaseRetryMs, () => {
        if (!this.#progress.get().isClosed) this.#expire(leaseId);
      });
    });
  }

  #checkOpen(signal: AbortSignal): void {
    throwIfAborted(signal);
    if (this.#progress.get().isClosed) throw new Cancelled({ message: 'the store is closed' });
  }

  #checkHistory(revision: number): void {
    if (revision < this.#log.compactedRevision) throw compacted(revision, this.#log.compactedRevision);
  }
}

function compacted(revision: number, compactedRevision: number): RevisionCompacted {
  return new RevisionCompacted({ message: `revision ${revision} was asked for, the history begins at ${compactedRevision}` });
}

function inFuture(revision: number, newest: number): RevisionInFuture {
  return new RevisionInFuture({ message: `revision ${revision} was asked for, the newest is ${newest}` });
}

function noLease(leaseId: number): NotFound {
  return new NotFound({ message: `there is no lease ${leaseId}` });
}
