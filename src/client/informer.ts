import type { KindRef } from '#api/kind.ts';
import { type KubeObject, objectKey } from '#api/object.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { isGone } from './api-error.ts';
import type { Client } from './client.ts';
import { deepFreeze } from './frozen.ts';
import type { Informer, ObjectChange } from './informer-port.ts';

export interface InformerOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** The objects have nothing but their type and metadata. */
  readonly metadataOnly?: boolean | undefined;
}

export interface InformerShape<T extends KubeObject> extends InformerOptions {
  /** What of an object is kept: name, uid and resourceVersion at least. Absent: all of it. */
  keep?(object: T): T;
}

export interface InformerDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1; spreads the reconnects of many. */
  readonly random?: (() => number) | undefined;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5000;

/** As upstream: a watch is asked anew after 5 to 10 minutes, so that no connection is trusted for ever. */
const WATCH_SECONDS = 300;

export function createInformer<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  options: InformerShape<T>,
  dependencies: InformerDependencies,
): Informer<T> {
  return new ListWatchInformer(client, kind, options, dependencies);
}

type Listener<T> = (change: ObjectChange<T>) => void;

class ListWatchInformer<T extends KubeObject> implements Informer<T> {
  readonly #client: Client;
  readonly #kind: KindRef<T>;
  readonly #options: InformerOptions;
  readonly #keep: (object: T) => T;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #random: () => number;
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<Listener<T>>();
  readonly #waiting = new Set<() => void>();
  #hasSynced = false;
  /** Of the last list or event; '' before the first list and when the server no longer knows it. */
  #revision = '';

  constructor(client: Client, kind: KindRef<T>, { keep, ...options }: InformerShape<T>, dependencies: InformerDependencies) {
    this.#client = client;
    this.#kind = kind;
    this.#options = options;
    this.#keep = keep ?? ((object) => object);
    this.#clock = dependencies.clock;
    this.#logger = dependencies.logger.child({ informer: kind.plural });
    this.#random = dependencies.random ?? Math.random;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  subscribe(listener: Listener<T>): () => void {
    let subscribed = true;
    queueMicrotask(() => {
      if (!subscribed) return;
      // What changed until now is in the map: the listener starts from it and misses nothing.
      for (const object of this.#objects.values()) this.#tell(listener, { type: 'added', object });
      this.#listeners.add(listener);
    });
    return () => {
      subscribed = false;
      this.#listeners.delete(listener);
    };
  }

  synced(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#hasSynced) return resolve();
      const done = () => {
        forget();
        resolve();
      };
      this.#waiting.add(done);
      const forget = onAbort(signal, () => {
        this.#waiting.delete(done);
        reject(reasonOf(signal));
      });
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const sinceMs = this.#clock.monotonic();
      const cause = await this.#listAndWatch(signal);
      if (signal.aborted) break;
      if (isGone(cause)) this.#revision = '';
      const lastedMs = this.#clock.monotonic() - sinceMs;
      failures = lastedMs >= LAST_RETRY_MS ? 0 : failures + 1;
      // A watch that was lost for the first time in a while is most likely to be had again at once.
      if (failures > 1 || (failures === 1 && !this.#hasSynced)) await this.#pause(cause, failures, signal);
    }
  }

  /** @returns what ended it, `undefined` when the server did */
  async #listAndWatch(signal: AbortSignal): Promise<unknown> {
    try {
      if (this.#revision === '') await this.#relist(signal);
      await this.#follow(signal);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  async #pause(cause: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS) * (1 + this.#random());
    const code = cause instanceof AppError ? cause.code : 'UNEXPECTED';
    const fields = { code, error: cause === undefined ? 'the server ended the watch' : messageOf(cause), delayMs };
    if (code === 'UNEXPECTED' && cause !== undefined) this.#logger.error('list and watch failed', fields);
    else this.#logger.debug('list and watch is tried again', fields);
    await this.#clock.sleep(delayMs, signal).catch(() => undefined); // an aborted wait ends the loop above
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const { items, resourceVersion } = await this.#client.list(this.#kind, this.#options, signal);
    const vanished = new Set(this.#objects.keys());
    for (const item of items) {
      vanished.delete(objectKey(item.metadata));
      if (this.#objects.get(objectKey(item.metadata))?.metadata.resourceVersion !== item.metadata.resourceVersion) this.#put(item);
    }
    for (const key of vanished) this.#remove(key, undefined);
    this.#revision = resourceVersion;
    this.#hasSynced = true;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const done of waiting) done();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const timeoutSeconds = Math.floor(WATCH_SECONDS * (1 + this.#random()));
    const options = { ...this.#options, resourceVersion: this.#revision, allowBookmarks: true, timeoutSeconds };
    for await (const event of this.#client.watch(this.#kind, options, signal)) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          this.#put(event.object);
          break;
        case 'DELETED':
          this.#remove(objectKey(event.object.metadata), event.object);
          break;
        case 'BOOKMARK':
          this.#revision = event.resourceVersion;
          continue;
      }
      this.#revision = event.object.metadata.resourceVersion;
    }
  }

  #put(received: T): void {
    const object = deepFreeze(this.#keep(received));
    const key = objectKey(object.metadata);
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) {
      // Deleted and made again while nobody watched: two different things that share a name.
      this.#announce({ type: 'deleted', object: previous });
      this.#announce({ type: 'added', object });
    } else this.#announce(previous === undefined ? { type: 'added', object } : { type: 'updated', object, previous });
  }

  /** @param last absent when the deletion was not seen: then what is known stands in */
  #remove(key: string, last: T | undefined): void {
    const known = this.#objects.get(key);
    if (known === undefined) return;
    this.#objects.delete(key);
    this.#announce({ type: 'deleted', object: last === undefined ? known : deepFreeze(this.#keep(last)) });
  }

  #announce(change: ObjectChange<T>): void {
    for (const listener of [...this.#listeners]) this.#tell(listener, change);
  }

  #tell(listener: Listener<T>, change: ObjectChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      // One listener's bug must not cost the others their changes.
      this.#logger.error('a listener failed', {
        key: objectKey(change.object.metadata),
        error: error instanceof Error ? error.stack : String(error),
      });
    }
  }
}
