import { deepEqual } from '#api/deep-equal.ts';
import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Namespace, NamespaceCondition, Pod } from '#api/types/core-v1.ts';

/** What of one kind is still in a namespace that goes, after its deletion was asked for. */
export interface Remains {
  readonly kind: Pick<KindRef, 'group' | 'version' | 'plural'>;
  readonly objects: readonly Pick<KubeObject, 'metadata'>[];
}

const FINALIZER = 'kubernetes';
const SECOND_MS = 1000;

/** Whether the content of a namespace is ours to delete. */
export function isToBeEmptied(namespace: Namespace | undefined): namespace is Namespace {
  return namespace?.metadata.deletionTimestamp !== undefined && (namespace.spec?.finalizers ?? []).includes(FINALIZER);
}

/** The namespace without our finalizer: the API server then removes it. */
export function released(namespace: Namespace): Namespace {
  return { ...namespace, spec: { ...namespace.spec, finalizers: (namespace.spec?.finalizers ?? []).filter((name) => name !== FINALIZER) } };
}

/**
 * The status of a namespace that goes: its phase, and five conditions that say how far it is.
 *
 * @param failures texts of what went wrong while content was deleted
 * @returns the same object when it says so already
 */
export function terminatingStatus(namespace: Namespace, remains: readonly Remains[], failures: readonly string[], now: string): Namespace {
  const present = namespace.status?.conditions ?? [];
  const wanted = conditions(remains, failures);
  const next = wanted.map((condition) => {
    const before = present.find(({ type }) => type === condition.type);
    return { ...condition, lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : now };
  });
  const isTold = next.every((condition) => present.some((before) => deepEqual(before, condition)));
  if (namespace.status?.phase === 'Terminating' && isTold) return namespace;
  const others = present.filter(({ type }) => !next.some((condition) => condition.type === type));
  return { ...namespace, status: { ...namespace.status, phase: 'Terminating', conditions: [...others, ...next] } };
}

/** How long to wait for what remains, if nothing tells earlier: upstream's half of the longest grace, or of 15 s for finalizers, and one second. */
export function retryAfterMs(remains: readonly Remains[]): number {
  const graces = remains.flatMap(({ objects }) => objects.map(graceSeconds));
  return (Math.floor(Math.max(0, ...graces) / 2) + 1) * SECOND_MS;
}

function graceSeconds(object: Pick<KubeObject, 'metadata'>): number {
  const held = (object.metadata.finalizers ?? []).length > 0 ? 15 : 0;
  const { spec } = object as Pick<Pod, 'spec'>; // only pods have it
  return Math.max(held, spec?.terminationGracePeriodSeconds ?? 0);
}

function conditions(remains: readonly Remains[], failures: readonly string[]): readonly NamespaceCondition[] {
  const left = remains.filter(({ objects }) => objects.length > 0);
  const resources = left.map(({ kind, objects }) => `${kind.plural}.${kind.group} has ${objects.length} resource instances`).sort();
  const finalizers = [...finalizerCounts(left)].map(([name, count]) => `${name} in ${count} resource instances`).sort();
  return [
    // The kinds are known, not discovered: these two cannot fail.
    passed('NamespaceDeletionDiscoveryFailure', { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' }),
    passed('NamespaceDeletionGroupVersionParsingFailure', { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' }),
    failures.length === 0
      ? passed('NamespaceDeletionContentFailure', {
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        })
      : failed('NamespaceDeletionContentFailure', {
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
        }),
    resources.length === 0
      ? passed('NamespaceContentRemaining', { reason: 'ContentRemoved', message: 'All content successfully removed' })
      : failed('NamespaceContentRemaining', { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${resources.join(', ')}` }),
    finalizers.length === 0
      ? passed('NamespaceFinalizersRemaining', { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' })
      : failed('NamespaceFinalizersRemaining', {
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
        }),
  ];
}

interface Told {
  readonly reason: string;
  readonly message: string;
}

/** Each of these conditions names a problem: False is good. */
function passed(type: string, told: Told): NamespaceCondition {
  return { type, status: 'False', ...told };
}

function failed(type: string, told: Told): NamespaceCondition {
  return { type, status: 'True', ...told };
}

function finalizerCounts(remains: readonly Remains[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { objects } of remains) {
    for (const name of objects.flatMap((object) => object.metadata.finalizers ?? [])) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
