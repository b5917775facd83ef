import { onAbort, reasonOf, throwIfAborted } from './abort.ts';

/** A value that others may read at any time and be told about when it changes. */
export interface Watchable<T> {
  get(): T;
  /** Calls `listener` after each change, not at once; the result unsubscribes. */
  subscribe(listener: (value: T) => void): () => void;
}

/** A `Watchable` with its owner's right to change it. Setting the same value (`Object.is`) tells nobody. */
export class Cell<T> implements Watchable<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Resolves with the first value, the present one included, that passes `accept`. */
export function waitFor<T>(watchable: Watchable<T>, accept: (value: T) => boolean, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    if (accept(watchable.get())) return resolve(watchable.get());
    const unsubscribe = watchable.subscribe((value) => {
      if (!accept(value)) return;
      unsubscribe();
      forget();
      resolve(value);
    });
    const forget = onAbort(signal, () => {
      unsubscribe();
      reject(reasonOf(signal));
    });
  });
}
