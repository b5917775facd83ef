import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';

/** Lets at most `limit` works run at once, the others in the order of their coming. */
export class PullQueue {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws {Cancelled} when the signal is aborted before the work's turn */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    if (this.#running >= this.#limit) await this.#turn(signal);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#running -= 1;
      else next(); // takes our place
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let forget: () => void = () => undefined;
      const begin = () => {
        this.#waiting.delete(begin);
        forget();
        resolve();
      };
      this.#waiting.add(begin);
      forget = onAbort(signal, () => {
        if (this.#waiting.delete(begin)) reject(reasonOf(signal));
      });
    });
  }
}
