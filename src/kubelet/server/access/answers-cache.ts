import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';

interface Kept<T> {
  readonly value: T;
  readonly untilMs: number;
}

const mostAnswers = 4096;
const deadlineMs = 10_000;

/** Answers of the API server, each kept for a time of its own. Those who ask the same at once wait for one answer. */
export class AnswersCache<T> {
  readonly #clock: Clock;
  readonly #keepMs: (value: T) => number;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #asked = new Map<string, Promise<T>>();

  constructor(clock: Clock, keepMs: (value: T) => number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** A failure is not kept. */
  async get(key: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock.now() < kept.untilMs) return kept.value;
    const asked = this.#asked.get(key) ?? this.#ask(key, ask);
    return await asked;
  }

  #ask(key: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // No caller's own signal: others may wait for the same answer.
    const asked = withDeadline('a review', deadlineMs, this.#clock, new AbortController().signal, ask)
      .then((value) => {
        this.#keep(key, value);
        return value;
      })
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  #keep(key: string, value: T): void {
    const keepMs = this.#keepMs(value);
    this.#kept.delete(key);
    if (keepMs <= 0) return;
    // A map keeps the order of insertion: the oldest go first.
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < mostAnswers) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(key, { value, untilMs: this.#clock.now() + keepMs });
  }
}
