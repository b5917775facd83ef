import { compareKeys } from '../key-order.ts';
import { eventOf, isLive, type LeaseRow, type LiveRow, type LogRow, type RevisionLog } from '../log/revision-log.ts';
import type { RangeOptions, StorageEvent } from '../storage.ts';

/** The log in memory. It cannot fail, so `atomically` has nothing to take back. */
export class MemoryLog implements RevisionLog {
  revision = 1;
  compactedRevision = 0;
  /** In order of their revisions; those of the keys are the same rows. */
  #rows: LogRow[] = [];
  readonly #histories = new Map<string, readonly LogRow[]>();
  readonly #leases = new Map<number, LeaseRow>();
  #lastLeaseId = 0;

  atomically<T>(work: () => T): T {
    return work();
  }

  append(row: LogRow): void {
    this.revision = row.revision;
    this.#rows.push(row);
    this.#histories.set(row.key, [...(this.#histories.get(row.key) ?? []), row]);
  }

  live(key: string): LiveRow | undefined {
    return this.#liveAt(key, this.revision);
  }

  range(prefix: string, options: RangeOptions): readonly LiveRow[] {
    const rows = [...this.#histories.keys()]
      .filter((key) => key.startsWith(prefix) && (options.after === '' || compareKeys(key, options.after) > 0))
      .sort(compareKeys)
      .flatMap((key) => this.#liveAt(key, options.revision) ?? []);
    return options.limit === 0 ? rows : rows.slice(0, options.limit);
  }

  events(prefix: string, fromRevision: number, limit: number): readonly StorageEvent[] {
    return this.#rows
      .filter((row) => row.revision >= fromRevision && row.key.startsWith(prefix))
      .slice(0, limit)
      .map((row) => eventOf(row, this.#previousOf(row)));
  }

  setCompacted(revision: number): void {
    this.compactedRevision = revision;
  }

  sweep(): boolean {
    const useless = new Set(
      this.#rows
        .filter((row) => row.revision < this.compactedRevision)
        .flatMap((row) => (isLive(row) ? [row.previousRevision] : [row.previousRevision, row.revision])),
    );
    this.#rows = this.#rows.filter((row) => !useless.has(row.revision));
    for (const [key, rows] of this.#histories) {
      const rest = rows.filter((row) => !useless.has(row.revision));
      if (rest.length === 0) this.#histories.delete(key);
      else this.#histories.set(key, rest);
    }
    return false;
  }

  addLease(ttlSeconds: number): number {
    const leaseId = ++this.#lastLeaseId;
    this.#leases.set(leaseId, { leaseId, ttlSeconds });
    return leaseId;
  }

  removeLease(leaseId: number): void {
    this.#leases.delete(leaseId);
  }

  leases(): readonly LeaseRow[] {
    return [...this.#leases.values()];
  }

  keysOfLease(leaseId: number): readonly string[] {
    return [...this.#histories.keys()].filter((key) => this.live(key)?.leaseId === leaseId);
  }

  close(): void {
    // memory goes with its last reader
  }

  #liveAt(key: string, revision: number): LiveRow | undefined {
    const row = this.#histories.get(key)?.findLast((one) => one.revision <= revision);
    return row !== undefined && isLive(row) ? row : undefined;
  }

  #previousOf(row: LogRow): LiveRow | undefined {
    const previous = this.#histories.get(row.key)?.find((one) => one.revision === row.previousRevision);
    return previous !== undefined && isLive(previous) ? previous : undefined;
  }
}
