import type { Change } from './change.ts';

export interface HistoryLimits {
  readonly maxChanges: number;
  readonly maxBytes: number;
}

/** The newest changes of one kind, for watches that start in the past. */
export class History {
  readonly #limits: HistoryLimits;
  #changes: Change[] = [];
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

  add(change: Change): void {
    this.#changes.push(change);
    this.#bytes += sizeOf(change);
    const { maxChanges, maxBytes } = this.#limits;
    // Room is made in large steps, so that it costs nothing per change.
    if (this.#changes.length > maxChanges || this.#bytes > maxBytes) this.#dropOldest(Math.ceil(this.#changes.length / 4));
  }

  /** Every change after the revision, or undefined when some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#changes.slice(low);
  }

  #dropOldest(count: number): void {
    const dropped = this.#changes.slice(0, count);
    this.#changes = this.#changes.slice(count);
    for (const change of dropped) this.#bytes -= sizeOf(change);
    this.#floor = dropped.at(-1)?.revision ?? this.#floor;
  }
}

function sizeOf(change: Change): number {
  return change.object.item.byteLength + (change.previous?.item.byteLength ?? 0);
}
