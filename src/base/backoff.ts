import type { Clock } from './clock.ts';

export interface BackoffSettings {
  readonly baseMs: number;
  readonly maxMs: number;
  /** An entry that was not advanced for this long is forgotten. */
  readonly forgetAfterMs: number;
}

interface Entry {
  readonly delayMs: number;
  readonly updatedAtMs: number;
}

/** Delays by key that double from base to max. The map is pruned as it is used. */
export class Backoff {
  readonly #entries = new Map<string, Entry>();
  readonly #settings: BackoffSettings;
  readonly #clock: Clock;

  constructor(settings: BackoffSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** The delay in force, 0 when there is none. */
  delayMs(key: string): number {
    return this.#live(key)?.delayMs ?? 0;
  }

  /** Milliseconds that are left of the delay in force, counted from `sinceMs` (epoch); 0 when it is over. */
  remainingMs(key: string, sinceMs: number): number {
    return Math.max(0, sinceMs + this.delayMs(key) - this.#clock.now());
  }

  /** Doubles the delay (or starts it) and returns it. */
  advance(key: string): number {
    const before = this.#live(key)?.delayMs;
    const delayMs = before === undefined ? this.#settings.baseMs : Math.min(before * 2, this.#settings.maxMs);
    this.#entries.set(key, { delayMs, updatedAtMs: this.#clock.now() });
    return delayMs;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#clock.now() - entry.updatedAtMs <= this.#settings.forgetAfterMs) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}
