import { onAbort } from '#base/abort.ts';

interface Shared<T> {
  readonly result: Promise<T>;
  readonly pods: Set<string>;
  readonly abort: AbortController;
}

/** @param pods those that wait for it, as they come and go */
export type SharedWork<T> = (signal: AbortSignal, pods: ReadonlySet<string>) => Promise<T>;

/** Work that is done once for all who want the same; it ends early only when the last of them has gone. */
export class SharedPulls<T> {
  readonly #running = new Map<string, Shared<T>>();

  /** Starts the work, or joins the one of the same key. @param signal ends all, whoever waits */
  join(key: string, podUid: string, work: SharedWork<T>, signal: AbortSignal): Promise<T> {
    const shared = this.#running.get(key) ?? this.#start(key, work, signal);
    shared.pods.add(podUid);
    return shared.result;
  }

  /** The pod needs nothing any more. */
  leave(podUid: string): void {
    for (const [key, { pods, abort }] of this.#running) {
      if (!pods.delete(podUid) || pods.size > 0) continue;
      this.#running.delete(key); // whoever comes now must not get what is being given up
      abort.abort();
    }
  }

  #start(key: string, work: SharedWork<T>, signal: AbortSignal): Shared<T> {
    const abort = new AbortController();
    const forget = onAbort(signal, () => abort.abort(signal.reason));
    const pods = new Set<string>();
    const result = work(abort.signal, pods).finally(() => {
      forget();
      if (this.#running.get(key) === shared) this.#running.delete(key);
    });
    const shared: Shared<T> = { result, pods, abort };
    this.#running.set(key, shared);
    return shared;
  }
}
