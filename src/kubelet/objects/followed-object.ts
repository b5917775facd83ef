import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock, Timer } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import { createInformer } from '#client/informer.ts';
import type { Informer } from '#client/informer-port.ts';

export interface FollowOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idleMs: number;
  /** Called once, when nobody has listened or read for `idleMs`; the object is no longer followed then. */
  readonly onIdle: () => void;
}

/** One API object, kept up to date as long as somebody wants it. An immutable one is read once and then left alone. */
export class FollowedObject<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #key: string;
  readonly #options: FollowOptions;
  readonly #listeners = new Set<() => void>();
  readonly #stop = new AbortController();
  #idle: Timer | undefined;

  constructor(client: Client, kind: KindRef<T>, ref: { readonly namespace: string; readonly name: string }, options: FollowOptions) {
    const selected = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
    this.#informer = createInformer(client, kind, selected, options);
    this.#key = `${ref.namespace}/${ref.name}`;
    this.#options = options;
    this.#informer.subscribe(() => this.#changed());
    this.touch();
  }

  get isKnown(): boolean {
    return this.#informer.hasSynced;
  }

  get(): T | undefined {
    return this.#informer.get(this.#key);
  }

  async read(signal: AbortSignal): Promise<T | undefined> {
    await this.#informer.synced(signal);
    return this.get();
  }

  /** Calls after each change; the result takes it back. */
  listen(changed: () => void): () => void {
    const listener = () => changed(); // the same function may listen twice
    this.#listeners.add(listener);
    this.#idle?.cancel();
    return () => {
      if (this.#listeners.delete(listener)) this.touch();
    };
  }

  /** Somebody wants it: starts the wait for idleness anew. */
  touch(): void {
    this.#idle?.cancel();
    if (this.#listeners.size > 0) return;
    this.#idle = this.#options.clock.after(this.#options.idleMs, () => {
      this.stop();
      this.#options.onIdle();
    });
  }

  /** Follows until `stop` or the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = onAbort(signal, () => this.#stop.abort());
    await this.#informer.run(this.#stop.signal);
    forget();
  }

  stop(): void {
    this.#idle?.cancel();
    this.#stop.abort();
  }

  #changed(): void {
    if (isImmutable(this.get())) this.#stop.abort();
    for (const listener of [...this.#listeners]) listener();
  }
}

function isImmutable(object: KubeObject | undefined): boolean {
  return object !== undefined && 'immutable' in object && object.immutable === true;
}
