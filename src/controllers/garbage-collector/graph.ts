import { semanticEqual } from '#api/deep-equal.ts';
import type { ObjectMeta, OwnerReference } from '#api/types/meta-v1.ts';
import { alternativeTo, hasCoordinates, isSameIdentity, type ObjectIdentity, ownerIdentity, partition } from './identity.ts';

export interface GraphNode {
  readonly identity: ObjectIdentity;
  readonly owners: readonly OwnerReference[];
  readonly dependents: ReadonlySet<GraphNode>;
  /** Nobody has seen it: others name it as their owner. */
  readonly isVirtual: boolean;
  readonly isBeingDeleted: boolean;
  /** What must happen before the object, which is being deleted, goes. */
  readonly waitsFor: Wait;
}

type Wait = 'orphaned-dependents' | 'deleted-dependents' | undefined;

/** What is to be done after the graph has changed. */
export type Effect =
  /** See whether the object is to go. */
  | { readonly kind: 'look'; readonly uid: string }
  | { readonly kind: 'orphan'; readonly uid: string }
  /** There is no such object, and never will be. */
  | { readonly kind: 'absent'; readonly identity: ObjectIdentity }
  /** The object names an owner that is in another namespace. */
  | { readonly kind: 'misplaced'; readonly dependent: ObjectIdentity; readonly owner: ObjectIdentity };

export type ObservedMetadata = Pick<ObjectMeta, 'ownerReferences' | 'finalizers' | 'deletionTimestamp'>;

/** Objects by their uid and who belongs to whom. It only says what is to be done. */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** The object exists, like this. */
  observe(identity: ObjectIdentity, metadata: ObservedMetadata): readonly Effect[] {
    const effects: Effect[] = [];
    const known = this.#nodes.get(identity.uid);
    const node = known ?? newNode(identity, false);
    if (known === undefined) this.#nodes.set(identity.uid, node);
    else if (known.isVirtual) this.#meet(known, identity, effects);
    this.#setOwners(node, metadata.ownerReferences ?? [], effects);
    const waited = node.waitsFor;
    node.isBeingDeleted = metadata.deletionTimestamp !== undefined;
    node.waitsFor = waitOf(metadata);
    if (node.waitsFor !== waited && node.waitsFor === 'orphaned-dependents') effects.push({ kind: 'orphan', uid: identity.uid });
    if (node.waitsFor !== waited && node.waitsFor === 'deleted-dependents') effects.push(...looksAt(node.dependents), look(node));
    return effects;
  }

  /** The object was seen to go. */
  forget(uid: string): readonly Effect[] {
    const node = this.#nodes.get(uid);
    return node === undefined ? [] : this.#remove(node, node.identity);
  }

  /** The object can no longer be seen: it may exist or not. */
  lose(uid: string): readonly Effect[] {
    const node = this.#nodes.get(uid);
    if (node === undefined) return [];
    const effects: Effect[] = [];
    this.#setOwners(node, [], effects);
    if (node.dependents.size === 0) this.#nodes.delete(uid);
    else effects.push(look(node));
    Object.assign(node, { isVirtual: true, isBeingDeleted: false, waitsFor: undefined });
    return effects;
  }

  /** A live look says that this very object does not exist; what is known under its uid may be another one. */
  confirmAbsent(identity: ObjectIdentity): readonly Effect[] {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return [];
    const { matching, others } = partition(node.dependents, identity);
    const ofMatching: readonly Effect[] = matching.length === 0 ? [] : [{ kind: 'absent', identity }, ...looksAt(matching)];
    const isSame = isSameIdentity(node.identity, identity);
    if (!node.isVirtual) return isSame ? this.#remove(node, identity) : ofMatching;
    if (others.length === 0) return this.#remove(node, identity);
    const alternative = isSame ? alternativeTo(identity, others) : undefined;
    if (alternative === undefined) return ofMatching;
    node.identity = alternative;
    return [...ofMatching, look(node)];
  }

  /** A virtual node turns out to be a real object, not always the one that its dependents mean. */
  #meet(node: Node, identity: ObjectIdentity, effects: Effect[]): void {
    node.isVirtual = false;
    if (isSameIdentity(node.identity, identity)) return;
    node.identity = identity;
    for (const dependent of partition(node.dependents, identity).others) {
      const isElsewhere = identity.namespace !== '' && dependent.identity.namespace !== identity.namespace;
      if (isElsewhere) effects.push({ kind: 'misplaced', dependent: dependent.identity, owner: namedBy(dependent, identity.uid) });
      effects.push(look(dependent));
    }
  }

  #setOwners(node: Node, next: readonly OwnerReference[], effects: Effect[]): void {
    const before = new Map(node.owners.map((owner) => [owner.uid, owner]));
    const after = new Map(next.map((owner) => [owner.uid, owner]));
    node.owners = next;
    for (const [uid, owner] of before) {
      const now = after.get(uid);
      const isUnblocked = owner.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true;
      const known = this.#nodes.get(uid);
      if (isUnblocked && known !== undefined) effects.push(look(known));
      if (now === undefined && known !== undefined) this.#unlink(known, node);
    }
    const added = next.filter(({ uid }) => !before.has(uid));
    const changed = next.filter((owner) => before.has(owner.uid) && !semanticEqual(before.get(owner.uid), owner));
    let isDoubtful = changed.some((owner) => this.#isDoubtful(node, owner));
    for (const owner of added) isDoubtful = this.#link(node, owner, effects) || isDoubtful;
    if (isDoubtful) effects.push(look(node));
  }

  /** @returns whether the owner is known, and not as it is named */
  #link(node: Node, owner: OwnerReference, effects: Effect[]): boolean {
    const known = this.#nodes.get(owner.uid);
    if (known === undefined) {
      const virtual = newNode(ownerIdentity(owner, node.identity.namespace), true);
      this.#nodes.set(owner.uid, virtual);
      virtual.dependents.add(node);
      effects.push(look(virtual));
      return false;
    }
    known.dependents.add(node);
    const { namespace } = known.identity;
    const isElsewhere = namespace !== '' && namespace !== node.identity.namespace;
    if (isElsewhere && !known.isVirtual) {
      effects.push({ kind: 'misplaced', dependent: node.identity, owner: ownerIdentity(owner, node.identity.namespace) });
    }
    return this.#isDoubtful(node, owner);
  }

  #isDoubtful(node: Node, owner: OwnerReference): boolean {
    const known = this.#nodes.get(owner.uid);
    if (known === undefined) return false;
    const { namespace } = known.identity;
    // Of a virtual node without a namespace nobody knows whether it needs one.
    const isElsewhere = namespace !== node.identity.namespace && (namespace !== '' || known.isVirtual);
    return isElsewhere || !hasCoordinates(owner, known.identity);
  }

  #unlink(owner: Node, dependent: Node): void {
    owner.dependents.delete(dependent);
    if (owner.isVirtual && owner.dependents.size === 0) this.#nodes.delete(owner.identity.uid);
  }

  #remove(node: Node, identity: ObjectIdentity): readonly Effect[] {
    this.#nodes.delete(node.identity.uid);
    const owners = node.owners.flatMap(({ uid }) => this.#nodes.get(uid) ?? []);
    for (const owner of owners) this.#unlink(owner, node);
    const waiting = owners.filter((owner) => owner.waitsFor === 'deleted-dependents');
    const absent: readonly Effect[] = node.dependents.size === 0 ? [] : [{ kind: 'absent', identity }];
    return [...absent, ...looksAt(node.dependents), ...looksAt(waiting)];
  }
}

interface Node extends GraphNode {
  identity: ObjectIdentity;
  owners: readonly OwnerReference[];
  readonly dependents: Set<Node>;
  isVirtual: boolean;
  isBeingDeleted: boolean;
  waitsFor: Wait;
}

function newNode(identity: ObjectIdentity, isVirtual: boolean): Node {
  return { identity, owners: [], dependents: new Set(), isVirtual, isBeingDeleted: false, waitsFor: undefined };
}

function waitOf({ deletionTimestamp, finalizers = [] }: ObservedMetadata): Wait {
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes('orphan')) return 'orphaned-dependents';
  return finalizers.includes('foregroundDeletion') ? 'deleted-dependents' : undefined;
}

function namedBy({ identity, owners }: GraphNode, uid: string): ObjectIdentity {
  const owner = owners.find((candidate) => candidate.uid === uid);
  if (owner === undefined) throw new Error(`${identity.uid} does not name ${uid}`);
  return ownerIdentity(owner, identity.namespace);
}

function look({ identity }: GraphNode): Effect {
  return { kind: 'look', uid: identity.uid };
}

function looksAt(nodes: Iterable<GraphNode>): readonly Effect[] {
  return [...nodes].map(look);
}
