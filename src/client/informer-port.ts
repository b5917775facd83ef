import type { KubeObject } from '#api/object.ts';

export type ObjectChange<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'updated'; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly object: T };

/** A local copy of a list that a list+watch keeps up to date. All readers get the same frozen objects. */
export interface Informer<T extends KubeObject> {
  /** Lists and watches until the signal is aborted; reconnects by itself. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list is in. */
  synced(signal: AbortSignal): Promise<void>;
  readonly hasSynced: boolean;
  /** @param key `namespace/name`, or the name of a cluster-scoped object */
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Called in order of the changes, present objects first (as `added`, on the next turn of the loop); the result unsubscribes. */
  subscribe(listener: (change: ObjectChange<T>) => void): () => void;
}
