import { onAbort, reasonOf } from './abort.ts';

/** A queue between one producer and one consumer: `for await` takes items until it is closed. */
export class Channel<T> {
  readonly #items: T[] = [];
  #closed = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  get size(): number {
    return this.#items.length;
  }

  /** Ignored after `close`. */
  push(item: T): void {
    if (this.#closed) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** What is queued is still delivered, then the loop ends, or throws `failure`. */
  close(failure?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** @throws the failure that the channel was closed with, or `Cancelled` when the signal is aborted */
  async *take(signal: AbortSignal): AsyncGenerator<T, void, void> {
    const forget = onAbort(signal, () => this.#wake?.());
    try {
      for (;;) {
        if (signal.aborted) throw reasonOf(signal);
        const item = this.#items.shift();
        if (item !== undefined) yield item;
        else if (this.#closed) break;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      forget();
    }
  }
}
