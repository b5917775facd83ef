import type { Clock } from '#base/clock.ts';

/** Upstream's: this many events on one object at once, then one in five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_OBJECTS = 4096;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** Keeps one object that misbehaves from filling the store with its events. */
export class EventSpamFilter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more event on the object may be sent; it then counts. */
  admits(object: string): boolean {
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(object) ?? { tokens: BURST, atMs: nowMs };
    const tokens = Math.min(BURST, bucket.tokens + (nowMs - bucket.atMs) / REFILL_MS);
    const isAdmitted = tokens >= 1;
    this.#buckets.delete(object); // to the end of the map: the first is the one that was not used for longest
    this.#buckets.set(object, { tokens: isAdmitted ? tokens - 1 : tokens, atMs: nowMs });
    const [oldest] = this.#buckets.size > MAX_OBJECTS ? this.#buckets.keys() : [];
    if (oldest !== undefined) this.#buckets.delete(oldest);
    return isAdmitted;
  }
}
