import type { ObjectMeta, OwnerReference } from '#api/types/meta-v1.ts';
import type { GraphNode } from './graph.ts';

/** An object's owners by what is true of them now. */
export interface Owners {
  /** They exist and stay, or do not wait for their dependents. */
  readonly solid: readonly OwnerReference[];
  /** They do not exist. */
  readonly dangling: readonly OwnerReference[];
  /** They go as soon as their dependents are gone. */
  readonly waiting: readonly OwnerReference[];
}

export type Propagation = 'Orphan' | 'Foreground' | 'Background';

export type Plan =
  | { readonly kind: 'keep' }
  /** Take references to these owners out of the object. */
  | { readonly kind: 'disown'; readonly uids: readonly string[] }
  /** @param unblocksOwners whether the object must first stop to hold its owners up: they wait for each other */
  | { readonly kind: 'delete'; readonly propagation: Propagation; readonly unblocksOwners: boolean };

/** What becomes of an object that names owners. */
export function planObject(metadata: Pick<ObjectMeta, 'finalizers'>, owners: Owners, dependents: Iterable<Pick<GraphNode, 'waitsFor'>>): Plan {
  const { solid, dangling, waiting } = owners;
  if (solid.length > 0) {
    const uids = [...dangling, ...waiting].map(({ uid }) => uid);
    return uids.length === 0 ? { kind: 'keep' } : { kind: 'disown', uids };
  }
  const all = [...dependents];
  if (waiting.length > 0 && all.length > 0) {
    return { kind: 'delete', propagation: 'Foreground', unblocksOwners: all.some(({ waitsFor }) => waitsFor === 'deleted-dependents') };
  }
  return { kind: 'delete', propagation: carried(metadata.finalizers ?? []), unblocksOwners: false };
}

/** The dependents that an owner, which goes in the foreground, still waits for. */
export function blockersOf({ identity, dependents }: GraphNode): readonly GraphNode[] {
  return [...dependents].filter(({ owners }) => owners.some(({ uid, blockOwnerDeletion }) => uid === identity.uid && blockOwnerDeletion === true));
}

export function withoutOwners(owners: readonly OwnerReference[], uids: readonly string[]): readonly OwnerReference[] {
  return owners.filter(({ uid }) => !uids.includes(uid));
}

export function unblocked(owners: readonly OwnerReference[]): readonly OwnerReference[] {
  return owners.map((owner) => (owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner));
}

function carried(finalizers: readonly string[]): Propagation {
  if (finalizers.includes('orphan')) return 'Orphan';
  return finalizers.includes('foregroundDeletion') ? 'Foreground' : 'Background';
}
