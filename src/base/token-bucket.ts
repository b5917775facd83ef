import type { Clock } from './clock.ts';

/** Admits so many at once, and then so many a second. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #atMs: number;

  /** @param perSecond 0: no limit */
  constructor(perSecond: number, burst: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#atMs = clock.monotonic();
  }

  /** Whether one more may go; it then counts. */
  admits(): boolean {
    if (this.#perSecond === 0) return true;
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Waits until one more may go; it then counts. @throws {Cancelled} when the signal is aborted meanwhile */
  async take(signal: AbortSignal): Promise<void> {
    while (!this.admits()) await this.#clock.sleep(Math.max(1, ((1 - this.#tokens) * 1000) / this.#perSecond), signal);
  }
}
