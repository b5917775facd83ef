import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { OwnerReference } from '#api/types/meta-v1.ts';
import { AppError } from '#base/errors.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import type { Client, ObjectName } from '#client/client.ts';
import { keyOf, type ObjectIdentity, ownerIdentity } from './identity.ts';
import { type Owners, type Propagation, unblocked, withoutOwners } from './plan.ts';

/** An owner's kind is not one of the server's: whether the owner exists cannot be told. */
export class UnknownOwnerKind extends AppError {
  readonly code = 'UNKNOWN_OWNER_KIND';
  readonly retry = 'backoff';
}

/** Upstream's number of owners that are remembered as absent. */
const MAX_ABSENT = 500;

/** What the server has right now, and what the collector writes. */
export class LiveObjects {
  readonly #client: Client;
  readonly #kindOf: (type: Pick<ObjectIdentity, 'apiVersion' | 'kind'>) => KindRef | undefined;
  readonly #absent = new Set<string>();

  constructor(client: Client, kindOf: (type: Pick<ObjectIdentity, 'apiVersion' | 'kind'>) => KindRef | undefined) {
    this.#client = client;
    this.#kindOf = kindOf;
  }

  rememberAbsent(identity: ObjectIdentity): void {
    const key = keyOf(identity);
    this.#absent.delete(key);
    this.#absent.add(key);
    const [oldest = ''] = this.#absent;
    if (this.#absent.size > MAX_ABSENT) this.#absent.delete(oldest);
  }

  /** Whether it is a type of namespaced objects, named by something that is in no namespace: it cannot be looked up. */
  isUnreachable(identity: ObjectIdentity): boolean {
    return this.#kind(identity).scope === 'Namespaced' && identity.namespace === '';
  }

  /** The very object, by its uid; undefined when it does not exist. @throws {UnknownOwnerKind} */
  async get(identity: ObjectIdentity, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      const kind = this.#kind(identity);
      const live = await this.#client.get(kind, nameIn(kind, identity), signal);
      return live.metadata.uid === identity.uid ? live : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** @returns undefined when an owner is named that cannot exist */
  async classify({ metadata }: KubeObject, signal: AbortSignal): Promise<Owners | undefined> {
    const solid: OwnerReference[] = [];
    const dangling: OwnerReference[] = [];
    const waiting: OwnerReference[] = [];
    for (const reference of metadata.ownerReferences ?? []) {
      const named = ownerIdentity(reference, metadata.namespace ?? '');
      const isKnownAbsent = this.#absent.has(keyOf(named)) || this.#absent.has(keyOf({ ...named, namespace: '' }));
      if (!isKnownAbsent && this.isUnreachable(named)) return undefined;
      const owner = isKnownAbsent ? undefined : await this.get(named, signal);
      if (owner === undefined) {
        dangling.push(reference);
        this.rememberAbsent(this.#kindOf(named)?.scope === 'Cluster' ? { ...named, namespace: '' } : named);
      } else (isWaiting(owner) ? waiting : solid).push(reference);
    }
    return { solid, dangling, waiting };
  }

  /** References to these owners are taken out of the object, if it is still there. */
  async disown(identity: ObjectIdentity, uids: readonly string[], signal: AbortSignal): Promise<void> {
    const live = await this.get(identity, signal);
    const owners = live?.metadata.ownerReferences ?? [];
    const kept = withoutOwners(owners, uids);
    if (live !== undefined && kept.length < owners.length) await this.#patch(live, { ownerReferences: orNull(kept) }, signal);
  }

  async unblockOwners(live: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    return this.#patch(live, { ownerReferences: unblocked(live.metadata.ownerReferences ?? []) }, signal);
  }

  async removeFinalizer(identity: ObjectIdentity, finalizer: string, signal: AbortSignal): Promise<void> {
    const live = await this.get(identity, signal);
    const finalizers = live?.metadata.finalizers ?? [];
    if (live === undefined || !finalizers.includes(finalizer)) return;
    await this.#patch(live, { finalizers: orNull(finalizers.filter((name) => name !== finalizer)) }, signal);
  }

  /** @param seen what was decided about: a change of its owners calls the deletion off, any other change does not */
  async delete(seen: KubeObject, propagationPolicy: Propagation, signal: AbortSignal): Promise<void> {
    const identity = identityOf(seen);
    const { uid, resourceVersion, ownerReferences } = seen.metadata;
    const kind = this.#kind(identity);
    const ask = (preconditions: { readonly uid: string; readonly resourceVersion?: string }) =>
      this.#client.delete(kind, nameIn(kind, identity), { propagationPolicy, preconditions }, signal);
    try {
      await ask({ uid, resourceVersion });
    } catch (error) {
      if (isNotFound(error)) return;
      const live = isConflict(error) ? await this.get(identity, signal) : undefined;
      if (!isConflict(error)) throw error;
      if (live === undefined) return;
      if (live.metadata.resourceVersion === resourceVersion || !hasSameOwners(live.metadata.ownerReferences, ownerReferences)) throw error;
      await ask({ uid });
    }
  }

  #patch(live: KubeObject, change: object, signal: AbortSignal): Promise<KubeObject> {
    const identity = identityOf(live);
    const kind = this.#kind(identity);
    const { uid, resourceVersion } = live.metadata;
    return this.#client.patch(kind, nameIn(kind, identity), 'merge', { metadata: { uid, resourceVersion, ...change } }, '', signal);
  }

  #kind(type: ObjectIdentity): KindRef {
    const kind = this.#kindOf(type);
    if (kind === undefined) throw new UnknownOwnerKind({ message: `the server has no ${type.kind} in ${type.apiVersion}` });
    return kind;
  }
}

function identityOf({ apiVersion, kind, metadata: { namespace = '', name, uid } }: KubeObject): ObjectIdentity {
  return { apiVersion, kind, namespace, name, uid };
}

function nameIn(kind: KindRef, { namespace, name }: ObjectIdentity): ObjectName {
  return kind.scope === 'Namespaced' ? { namespace, name } : { name };
}

/** A merge patch takes a field away by `null`. */
function orNull<T>(items: readonly T[]): readonly T[] | null {
  return items.length === 0 ? null : items;
}

function isWaiting({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion');
}

function hasSameOwners(a: readonly OwnerReference[] = [], b: readonly OwnerReference[] = []): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
