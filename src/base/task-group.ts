/** Owns promises that nobody awaits: their failures are reported, and `close` waits for all of them. */
export class TaskGroup {
  readonly #running = new Set<Promise<void>>();
  readonly #onFailure: (what: string, error: unknown) => void;
  readonly #abort = new AbortController();

  constructor(onFailure: (what: string, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Aborted by `close`. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Number of tasks that have not ended. */
  get size(): number {
    return this.#running.size;
  }

  /** Starts `task` at once. A failure after `close` began is what `close` asked for and is not reported. */
  run(what: string, task: (signal: AbortSignal) => Promise<void>): void {
    const running = task(this.#abort.signal)
      .catch((error: unknown) => {
        if (!this.#abort.signal.aborted) this.#onFailure(what, error);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Aborts the signal and waits until every task has ended. May be called twice. */
  async close(): Promise<void> {
    this.#abort.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
