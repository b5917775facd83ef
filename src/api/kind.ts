import type { KubeObject } from './object.ts';

/** What a client needs to know of a kind. */
export interface KindRef<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Never set: carries the type of the kind's objects. */
  readonly objectType?: T;
}

/** `v1`, or `apps/v1`. */
export function apiVersionOf(kind: Pick<KindRef, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}
