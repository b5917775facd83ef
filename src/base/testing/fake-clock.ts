import { onAbort, reasonOf, throwIfAborted } from '../abort.ts';
import type { Clock, Timer } from '../clock.ts';

interface Pending {
  readonly atMs: number;
  readonly action: () => void;
}

/** A clock that stands still until `advance` is called. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      throwIfAborted(signal);
      const timer = this.after(ms, () => {
        forget();
        resolve();
      });
      const forget = onAbort(signal, () => {
        timer.cancel();
        reject(reasonOf(signal));
      });
    });
  }

  after(ms: number, action: () => void): Timer {
    const pending = { atMs: this.#nowMs + ms, action };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  /** Number of timers that have not run. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Moves time on; what falls due runs in order, with a turn of the event loop after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = this.#firstUntil(untilMs);
      if (due === undefined) break;
      this.#pending.delete(due);
      this.#nowMs = due.atMs;
      due.action();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = untilMs;
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Of those at the same time the one that was set first. Tests have thousands. */
  #firstUntil(untilMs: number): Pending | undefined {
    let first: Pending | undefined;
    for (const one of this.#pending) if (one.atMs <= untilMs && (first === undefined || one.atMs < first.atMs)) first = one;
    return first;
  }
}
