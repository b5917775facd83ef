import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Namespace } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { DeleteRequestOptions } from './delete-options.ts';
import { timeOf } from './times.ts';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** What a deletion does to an object: pure. */
export type DeletionPlan =
  | { readonly kind: 'nothing' }
  /** Stored with a mark; somebody else ends it. */
  | { readonly kind: 'mark'; readonly object: KubeObject }
  /** Watchers see the mark first, then the end. */
  | { readonly kind: 'mark-and-remove'; readonly object: KubeObject }
  | { readonly kind: 'remove' };

export function planDeletion(kind: Kind, object: KubeObject, options: DeleteRequestOptions, clock: Clock): DeletionPlan {
  if (isNamespace(kind)) return planNamespace(object as Namespace, finalizersFor(kind, object, options), clock); // the kind says what it is
  const grace = planGrace(kind, object, options.gracePeriodSeconds, clock);
  if (grace.kind === 'pending') return { kind: 'nothing' }; // neither the period nor the finalizers change any more
  const finalizers = finalizersFor(kind, object, options);
  if (grace.kind === 'none') {
    return finalizers.length === 0 ? { kind: 'remove' } : { kind: 'mark', object: withFinalizers(withMark(object, clock), finalizers) };
  }
  const graced = withFinalizers(grace.object, finalizers);
  if (grace.seconds > 0 || finalizers.length > 0) return { kind: 'mark', object: graced };
  return object.metadata.deletionTimestamp === undefined ? { kind: 'mark-and-remove', object: graced } : { kind: 'remove' };
}

/** Whether an object that was marked has nothing left that holds it. */
export function isFinished(kind: Kind, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds !== 0) return false;
  return !isNamespace(kind) || isEmptied(object as Namespace); // the kind says what it is
}

/** A namespace stays until its content is gone: its controller then takes the finalizer out of its spec. */
function isEmptied({ spec }: Namespace): boolean {
  return (spec?.finalizers ?? []).length === 0;
}

/** The first request is for the end of the content; only when that is over another one ends the namespace itself. */
function planNamespace(namespace: Namespace, finalizers: readonly string[], clock: Clock): DeletionPlan {
  if (namespace.metadata.deletionTimestamp === undefined) {
    const metadata = { ...namespace.metadata, deletionTimestamp: timeOf(clock.now()) };
    const marked: Namespace = { ...namespace, metadata, status: { ...namespace.status, phase: 'Terminating' } };
    return { kind: 'mark', object: withFinalizers(marked, finalizers) };
  }
  if (!isEmptied(namespace)) return { kind: 'nothing' };
  return finalizers.length === 0 ? { kind: 'remove' } : { kind: 'mark', object: withFinalizers(withMark(namespace, clock), finalizers) };
}

/** `pending`: the object has its time already, and this request does not shorten it. */
type Grace =
  | { readonly kind: 'none' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'given'; readonly object: KubeObject; readonly seconds: number };

function planGrace(kind: Kind, object: KubeObject, requestedSeconds: number | undefined, clock: Clock): Grace {
  if (kind.gracefulDeletion === undefined) return { kind: 'none' };
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0 } = object.metadata;
  const nowMs = clock.now();
  if (deletionTimestamp === undefined) {
    const seconds = kind.gracefulDeletion(object, requestedSeconds);
    return graced(object, nowMs + seconds * 1000, seconds, grown(object));
  }
  if (before === 0) return { kind: 'none' };
  if (requestedSeconds === undefined || requestedSeconds >= before) return { kind: 'pending' };
  const atMs = Date.parse(deletionTimestamp) - before * 1000 + requestedSeconds * 1000;
  const isPast = atMs < nowMs;
  return graced(object, Math.max(atMs, nowMs), isPast && requestedSeconds !== 0 ? 1 : requestedSeconds, {});
}

function graced(object: KubeObject, atMs: number, seconds: number, generation: { readonly generation?: number }): Grace {
  const metadata = { ...object.metadata, deletionTimestamp: timeOf(atMs), deletionGracePeriodSeconds: seconds, ...generation };
  return { kind: 'given', object: { ...object, metadata }, seconds };
}

function withMark(object: KubeObject, clock: Clock): KubeObject {
  const { deletionTimestamp } = object.metadata;
  const isFirst = deletionTimestamp === undefined;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: isFirst || Date.parse(deletionTimestamp) > clock.now() ? timeOf(clock.now()) : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
    ...(isFirst ? grown(object) : {}),
  };
  return { ...object, metadata };
}

function grown({ metadata: { generation = 0 } }: KubeObject): { readonly generation?: number } {
  return generation > 0 ? { generation: generation + 1 } : {};
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  const { finalizers: _, ...metadata } = object.metadata;
  return { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } };
}

/** What the caller asks for wins over what the object carries, and that over what is usual for the kind. */
function finalizersFor(kind: Kind, object: KubeObject, { propagationPolicy }: DeleteRequestOptions): readonly string[] {
  const before = object.metadata.finalizers ?? [];
  const others = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  const policy = kind.defaultPropagation === 'None' ? 'None' : (propagationPolicy ?? carriedPolicy(before) ?? kind.defaultPropagation);
  return [...others, ...(policy === 'Orphan' ? [orphanFinalizer] : []), ...(policy === 'Foreground' ? [foregroundFinalizer] : [])];
}

function carriedPolicy(finalizers: readonly string[]): 'Orphan' | 'Foreground' | undefined {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : undefined;
}

function isNamespace(kind: Kind): boolean {
  return kind.group === '' && kind.kind === 'Namespace';
}
