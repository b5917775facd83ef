import { onAbort } from '#base/abort.ts';
import { Backoff } from '#base/backoff.ts';
import type { Clock, Timer } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Told of each failure that is not the end of the queue itself. */
  readonly logger: Logger;
  /** Keys that are worked on at the same time, at most. */
  readonly workers: number;
  /** Between two tries of a key that fails; upstream's 5 ms to 1000 s when absent. */
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number } | undefined;
}

/** Makes the world what the object `key` asks for; called again after a failure and whenever the key was added. */
export type KeyHandler = (key: string, signal: AbortSignal) => Promise<void>;

/**
 * Keys that want a look. A key that is added many times is looked at once, and never by two workers at the same time: added while it is
 * worked on, it comes again afterwards.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #workers: number;
  readonly #backoff: Backoff;
  readonly #ready = new Set<string>();
  readonly #later = new Map<string, { readonly dueMs: number; readonly timer: Timer }>();
  readonly #active = new Map<string, Promise<void>>();
  #handle: ((key: string) => Promise<void>) | undefined;

  constructor(options: WorkQueueOptions) {
    const { baseMs, maxMs } = options.backoff ?? { baseMs: 5, maxMs: 1_000_000 };
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#workers = options.workers;
    this.#backoff = new Backoff({ baseMs, maxMs, forgetAfterMs: 2 * maxMs }, options.clock);
  }

  add(key: string): void {
    this.#later.get(key)?.timer.cancel();
    this.#later.delete(key);
    this.#ready.add(key);
    this.#start();
  }

  /** Adds the key when `ms` have passed, or at an earlier time that was wished for before. */
  addAfter(key: string, ms: number): void {
    if (this.#ready.has(key)) return;
    const dueMs = this.#clock.monotonic() + ms;
    const wished = this.#later.get(key);
    if (wished !== undefined && wished.dueMs <= dueMs) return;
    wished?.timer.cancel();
    this.#later.set(key, { dueMs, timer: this.#clock.after(ms, () => this.add(key)) });
  }

  /** Works until the signal is aborted and the work that was begun has ended. What was added before is not lost. Call once. */
  async run(handle: KeyHandler, signal: AbortSignal): Promise<void> {
    this.#handle = (key) => this.#work(key, handle, signal);
    this.#start();
    await new Promise<void>((resolve) => onAbort(signal, resolve));
    this.#handle = undefined;
    for (const { timer } of this.#later.values()) timer.cancel();
    this.#later.clear();
    await Promise.all(this.#active.values());
  }

  #start(): void {
    if (this.#handle === undefined) return;
    for (const key of this.#ready) {
      if (this.#active.size >= this.#workers) return;
      if (this.#active.has(key)) continue;
      this.#ready.delete(key);
      this.#active.set(key, this.#handle(key));
    }
  }

  async #work(key: string, handle: KeyHandler, signal: AbortSignal): Promise<void> {
    try {
      await handle(key, signal);
      this.#backoff.forget(key);
    } catch (error) {
      if (!signal.aborted) this.#retry(key, error);
    } finally {
      this.#active.delete(key);
      this.#start();
    }
  }

  #retry(key: string, error: unknown): void {
    const afterMs = this.#backoff.advance(key);
    const fields = { key, error: messageOf(error), afterMs };
    if (!(error instanceof AppError))
      this.#logger.error('unexpected failure', { ...fields, stack: error instanceof Error ? error.stack : undefined });
    else if (error.retry === 'now') this.#logger.debug('tried again: the object changed meanwhile', fields);
    else this.#logger.warn('tried again later', { ...fields, code: error.code });
    this.addAfter(key, afterMs);
  }
}
