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
  const graceSeconds = kind.gracefulDeletion?.(object, options.gracePeriodSeconds);
  const graceful = graceSeconds === undefined ? undefined : planGraceful(object, graceSeconds, clock);
  if (graceful?.kind === 'nothing' || graceful?.kind === 'mark') return graceful;
  const marked = graceful?.object ?? object;
  const finalizers = finalizersFor(marked, options);
  if (finalizers.length === 0 && !isHeldBack(kind, marked)) {
    return graceful !== undefined && object.metadata.deletionTimestamp === undefined
      ? { kind: 'mark-and-remove', object: marked }
      : { kind: 'remove' };
  }
  return { kind: 'mark', object: terminating(kind, withMark(marked, finalizers, clock)) };
}

/** Whether an object that was marked has nothing left that holds it. */
export function isFinished(kind: Kind, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || isHeldBack(kind, object)) return false;
  return deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0;
}

type GracefulPlan = { readonly kind: 'nothing' } | { readonly kind: 'mark' | 'remove'; readonly object: KubeObject };

function planGraceful(object: KubeObject, graceSeconds: number, clock: Clock): GracefulPlan {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0 } = object.metadata;
  const nowMs = clock.now();
  if (deletionTimestamp === undefined) return graced(object, nowMs + graceSeconds * 1000, graceSeconds, true);
  if (before === 0) return { kind: 'remove', object };
  if (graceSeconds >= before) return { kind: 'nothing' };
  const atMs = Date.parse(deletionTimestamp) - before * 1000 + graceSeconds * 1000;
  const isPast = atMs < nowMs;
  return graced(object, Math.max(atMs, nowMs), isPast && graceSeconds !== 0 ? 1 : graceSeconds, false);
}

function graced(object: KubeObject, atMs: number, graceSeconds: number, isFirst: boolean): GracefulPlan {
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timeOf(atMs),
    deletionGracePeriodSeconds: graceSeconds,
    ...(isFirst ? grown(object) : {}),
  };
  return { kind: graceSeconds > 0 ? 'mark' : 'remove', object: { ...object, metadata } };
}

function withMark(object: KubeObject, finalizers: readonly string[], clock: Clock): KubeObject {
  const { deletionTimestamp } = object.metadata;
  const isFirst = deletionTimestamp === undefined;
  const { finalizers: _, ...kept } = object.metadata;
  const metadata = {
    ...kept,
    ...(finalizers.length === 0 ? {} : { finalizers }),
    deletionTimestamp: isFirst || Date.parse(deletionTimestamp) > clock.now() ? timeOf(clock.now()) : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
    ...(isFirst ? grown(object) : {}),
  };
  return { ...object, metadata };
}

function grown({ metadata: { generation = 0 } }: KubeObject): { readonly generation?: number } {
  return generation > 0 ? { generation: generation + 1 } : {};
}

/** What the caller asks for wins over what the object carries; without either dependents are left to the garbage collector. */
function finalizersFor(object: KubeObject, { propagationPolicy }: DeleteRequestOptions): readonly string[] {
  const before = object.metadata.finalizers ?? [];
  const others = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  const keeps = (finalizer: string) => propagationPolicy === undefined && before.includes(finalizer);
  const orphans = propagationPolicy === 'Orphan' || keeps(orphanFinalizer);
  const foreground = propagationPolicy === 'Foreground' || keeps(foregroundFinalizer);
  return [...others, ...(orphans ? [orphanFinalizer] : []), ...(foreground ? [foregroundFinalizer] : [])];
}

function isNamespace(kind: Kind): boolean {
  return kind.group === '' && kind.kind === 'Namespace';
}

/** A namespace stays until its content is gone: its controller then takes the finalizer out of its spec. */
function isHeldBack(kind: Kind, object: KubeObject): boolean {
  return isNamespace(kind) && ((object as Namespace).spec?.finalizers ?? []).length > 0; // the kind says what it is
}

function terminating(kind: Kind, object: KubeObject): KubeObject {
  if (!isNamespace(kind)) return object;
  const namespace = object as Namespace; // the kind says what it is
  const marked: Namespace = { ...namespace, status: { ...namespace.status, phase: 'Terminating' } };
  return marked;
}
