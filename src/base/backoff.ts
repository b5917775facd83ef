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

/** Delays by key that double from base to max. What nobody asks for any more is forgotten too. */
export class Backoff {
  readonly #entries = new Map<string, Entry>();
  readonly #settings: BackoffSettings;
  readonly #clock: Clock;
  #sweptAtMs: number;

  constructor(settings: BackoffSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#sweptAtMs = clock.now();
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#entries.size;
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
    this.#sweep();
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
    if (!this.#isOver(entry)) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  /** Now and then, so that its cost is spread over many calls. */
  #sweep(): void {
    if (this.#clock.now() - this.#sweptAtMs <= this.#settings.forgetAfterMs) return;
    this.#sweptAtMs = this.#clock.now();
    for (const [key, entry] of this.#entries) if (this.#isOver(entry)) this.#entries.delete(key);
  }

  #isOver(entry: Entry): boolean {
    return this.#clock.now() - entry.updatedAtMs > this.#settings.forgetAfterMs;
  }
}
