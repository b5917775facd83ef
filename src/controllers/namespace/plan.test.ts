import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease as leaseKind } from '#api/kinds/coordination/v1/lease.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aLease, aNamespace, aPod } from '#api/testing/objects.ts';
import type { Namespace } from '#api/types/core-v1.ts';
import { isToBeEmptied, released, retryAfterMs, terminatingStatus } from './plan.ts';

const going = aNamespace({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } });

function told(namespace: Namespace): readonly string[] {
  return (namespace.status?.conditions ?? []).map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}

test('only a namespace that is being deleted and that we still hold is emptied', () => {
  assert.equal(isToBeEmptied(undefined), false);
  assert.equal(isToBeEmptied(aNamespace()), false);
  assert.equal(isToBeEmptied(going), true);
  assert.equal(isToBeEmptied(released({ ...going, spec: { finalizers: ['kubernetes', 'mine'] } })), false);
  assert.deepEqual(released({ ...going, spec: { finalizers: ['kubernetes', 'mine'] } }).spec, { finalizers: ['mine'] });
});

test('an empty namespace has five good conditions', () => {
  const status = terminatingStatus(going, [], [], 'now');
  assert.equal(status.status?.phase, 'Terminating');
  assert.deepEqual(told(status), [
    'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
    'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
    'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
    'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
  ]);
  assert.equal(terminatingStatus(status, [], [], 'later'), status);
});

test('what remains, what holds it and what went wrong is told, and a condition that stays keeps its time', () => {
  const held = aPod({ metadata: { finalizers: ['x/y', 'a/b'] } });
  const remains = [
    { kind: podKind, objects: [held, aPod()] },
    { kind: leaseKind, objects: [aLease()] },
  ];
  const first = terminatingStatus(going, remains, [], 'then');
  const second = terminatingStatus(first, remains, ['boom', 'bang'], 'now');
  assert.deepEqual(told(second).slice(2), [
    'NamespaceDeletionContentFailure True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: boom, bang',
    'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: leases.coordination.k8s.io has 1 resource instances, pods. has 2 resource instances',
    'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a/b in 1 resource instances, x/y in 1 resource instances',
  ]);
  assert.deepEqual(
    (second.status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
    ['then', 'then', 'now', 'then', 'then'],
  );
});

test('the next look comes after half of the longest grace, or of 15 seconds where a finalizer holds', () => {
  assert.equal(retryAfterMs([{ kind: leaseKind, objects: [aLease()] }]), 1000);
  assert.equal(retryAfterMs([{ kind: leaseKind, objects: [aLease({ metadata: { finalizers: ['x/y'] } })] }]), 8000);
  assert.equal(retryAfterMs([{ kind: podKind, objects: [aPod(), aPod({ spec: { terminationGracePeriodSeconds: 60 } })] }]), 31_000);
});
