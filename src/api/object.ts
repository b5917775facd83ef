import type { ObjectMeta } from './types/meta-v1.ts';

/** What every API object has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object that is about to be created: the server fills in the rest of its metadata. */
export type NewObject<T extends KubeObject> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Partial<T['metadata']>;
};

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Token of the next page, '' on the last. */
  readonly continueToken: string;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export function objectKey(meta: { readonly namespace?: string | undefined; readonly name: string }): string {
  return meta.namespace === undefined || meta.namespace === '' ? meta.name : `${meta.namespace}/${meta.name}`;
}
