import type { Change } from './change.ts';

export interface HistoryLimits {
  /** Older changes are forgotten: the store forgets them too. */
  readonly keepMs: number;
  /** Younger changes are kept however many there are, up to four times the limits below. */
  readonly keepAtLeastMs: number;
  readonly maxChanges: number;
  readonly maxBytes: number;
}

interface Remembered {
  readonly change: Change;
  readonly atMs: number;
}

/** The newest changes of one kind, for watches that start in the past. */
export class History {
  readonly #limits: HistoryLimits;
  #changes: Remembered[] = [];
  #bytes = 0;
  #floor: number;

  /** @param floor the revision from which on it will know every change */
  constructor(floor: number, limits: HistoryLimits) {
    this.#floor = floor;
    this.#limits = limits;
  }

  /** The oldest revision that a watch may start after. */
  get floor(): number {
    return this.#floor;
  }

  add(change: Change, nowMs: number): void {
    this.#changes.push({ change, atMs: nowMs });
    this.#bytes += sizeOf(change);
    const { keepMs, keepAtLeastMs, maxChanges, maxBytes } = this.#limits;
    const fullness = Math.max(this.#changes.length / maxChanges, this.#bytes / maxBytes);
    // Room is made in large steps, so that it costs nothing per change.
    const quarter = Math.ceil(this.#changes.length / 4);
    if (fullness > 4) this.#dropOldest(quarter);
    else if (fullness > 1) this.#dropOlderThan(nowMs - keepAtLeastMs, quarter);
    else this.#dropOlderThan(nowMs - keepMs, quarter);
  }

  /** Every change after the revision, or undefined when some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.change.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#changes.slice(low).map(({ change }) => change);
  }

  /** All of the oldest `count` changes, when they are that old. */
  #dropOlderThan(atMs: number, count: number): void {
    const newest = this.#changes[count - 1];
    if (newest !== undefined && newest.atMs < atMs) this.#dropOldest(count);
  }

  #dropOldest(count: number): void {
    const dropped = this.#changes.slice(0, count);
    this.#changes = this.#changes.slice(count);
    for (const { change } of dropped) this.#bytes -= sizeOf(change);
    this.#floor = dropped.at(-1)?.change.revision ?? this.#floor;
  }
}

function sizeOf(change: Change): number {
  return change.object.item.byteLength + (change.previous?.item.byteLength ?? 0);
}
