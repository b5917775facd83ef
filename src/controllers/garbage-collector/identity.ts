import type { OwnerReference } from '#api/types/meta-v1.ts';

/** Which object, as far as somebody says. */
export interface ObjectIdentity {
  readonly apiVersion: string;
  readonly kind: string;
  /** '' in cluster scope. Of an owner that nobody has seen: that of the object that names it. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What an object that names owners is, for a question about one of them. */
export interface Dependent {
  readonly identity: ObjectIdentity;
  readonly owners: readonly OwnerReference[];
}

/** Who an owner is according to an object in that namespace. */
export function ownerIdentity({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): ObjectIdentity {
  return { apiVersion, kind, namespace, name, uid };
}

export function isSameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return keyOf(a) === keyOf(b);
}

export function hasCoordinates(reference: OwnerReference, { apiVersion, kind, name, uid }: ObjectIdentity): boolean {
  return reference.uid === uid && reference.name === name && reference.kind === kind && reference.apiVersion === apiVersion;
}

/** Who of the dependents means exactly this object, and who means another one by its uid; one can do both. */
export function partition<D extends Dependent>(
  dependents: Iterable<D>,
  owner: ObjectIdentity,
): { readonly matching: readonly D[]; readonly others: readonly D[] } {
  const matching: D[] = [];
  const others: D[] = [];
  for (const dependent of dependents) {
    const isElsewhere = owner.namespace !== '' && owner.namespace !== dependent.identity.namespace;
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid);
    if (!isElsewhere && references.some((reference) => hasCoordinates(reference, owner))) matching.push(dependent);
    if (isElsewhere || references.some((reference) => !hasCoordinates(reference, owner))) others.push(dependent);
  }
  return { matching, others };
}

/** The next of those that the dependents may mean when this one is known not to exist: all of them come up in turn. */
export function alternativeTo(absent: ObjectIdentity, dependents: readonly Dependent[]): ObjectIdentity | undefined {
  const candidates = dependents
    .flatMap(({ identity, owners }) => owners.filter(({ uid }) => uid === absent.uid).map((owner) => ownerIdentity(owner, identity.namespace)))
    .filter((candidate) => !isSameIdentity(candidate, absent))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return candidates.find((candidate) => keyOf(candidate) > keyOf(absent)) ?? candidates[0];
}

export function keyOf({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return `${apiVersion}/${kind}/${namespace}/${name}/${uid}`;
}
