import type { Reading } from '../ports/usage.ts';

/** Two readings that are nearer tell more of their own cost than of the use. */
const shortestWindowMs = 1000;

interface Known {
  readonly atMs: number;
  readonly totalNanos: number;
  readonly nanoCores: Reading;
}

/** Turns counters of CPU time into rates: nobody reads them in between, so a rate is over the time since somebody asked. */
export class CpuRates {
  readonly #known = new Map<string, Known>();

  /** @returns billionths of a core; absent after the first reading, and when the counter began anew */
  of(key: string, atMs: number, totalNanos: Reading): Reading {
    if (totalNanos === undefined) return undefined;
    const known = this.#known.get(key);
    if (known !== undefined && known.totalNanos <= totalNanos && atMs - known.atMs < shortestWindowMs) return known.nanoCores;
    const nanoCores =
      known === undefined || known.totalNanos > totalNanos ? undefined : Math.round(((totalNanos - known.totalNanos) * 1000) / (atMs - known.atMs));
    this.#known.set(key, { atMs, totalNanos, nanoCores });
    return nanoCores;
  }

  /** Forgets all others. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key);
  }
}
