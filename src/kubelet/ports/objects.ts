import type { ConfigMap, Secret } from '#api/types/core-v1.ts';

/** `configmap/<namespace>/<name>`, `secret/<namespace>/<name>`: the form of a `WakeKey` of kind object. */
export type ObjectRefKey = `${string}/${string}/${string}`;

/**
 * API objects that pods name. The first read of an object fetches it and starts to follow it; later reads are answered from memory
 * and are at most as old as the watch. What nobody has watched or read for a while is let go.
 */
export interface ObjectsPort {
  /** @returns `undefined` when there is no such object. @throws {Unavailable} when the API server cannot be asked */
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>;
  /** Calls `changed` after the object appeared, changed or went away; the result unsubscribes. */
  watch(ref: ObjectRefKey, changed: () => void): () => void;
}
