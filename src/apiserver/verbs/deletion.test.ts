import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kind } from '#api/kind.ts';
import { configMap } from '#api/kinds/core/v1/config-map.ts';
import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { KubeObject } from '#api/object.ts';
import { aNamespace, aPod } from '#api/testing/objects.ts';
import type { DeleteOptions } from '#api/types/meta-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { checked } from './delete-options.ts';
import { planDeletion } from './deletion.ts';
import { timeOf } from './times.ts';

const clock = new FakeClock();
const at = (seconds: number) => timeOf(clock.now() + seconds * 1000);
const plan = (object: KubeObject, options: DeleteOptions = {}, kind: Kind = podKind) => planDeletion(kind, object, checked(options), clock);
const metadataOf = (planned: ReturnType<typeof plan>) => {
  assert.ok('object' in planned);
  const { deletionTimestamp, deletionGracePeriodSeconds, generation, finalizers } = planned.object.metadata;
  return [planned.kind, deletionTimestamp, deletionGracePeriodSeconds, generation, finalizers];
};
const onNode = (metadata: object = {}, phase = 'Running') =>
  aPod({ metadata: { generation: 1, ...metadata }, spec: { nodeName: 'n' }, status: { phase } });
const map = (metadata: object = {}): KubeObject => ({ ...aPod({ metadata }), kind: 'ConfigMap' });
const orphaning: Kind = { ...configMap, defaultPropagation: 'Orphan' };

test('a pod on a node gets the period that was asked for, else its own, and counts a generation', () => {
  assert.deepEqual(metadataOf(plan(onNode())), ['mark', at(30), 30, 2, undefined]);
  assert.deepEqual(metadataOf(plan(onNode(), { gracePeriodSeconds: 7 })), ['mark', at(7), 7, 2, undefined]);
  assert.deepEqual(metadataOf(plan(onNode(), { gracePeriodSeconds: -5 })), ['mark', at(1), 1, 2, undefined]);
});

test('a pod that is over, or on no node, or asked to go at once, goes at once', () => {
  for (const pod of [onNode({}, 'Failed'), onNode({}, 'Succeeded'), aPod({ metadata: { generation: 1 } })]) {
    assert.deepEqual(metadataOf(plan(pod, { gracePeriodSeconds: 9 })), ['mark-and-remove', at(0), 0, 2, undefined]);
  }
  assert.deepEqual(metadataOf(plan(onNode(), { gracePeriodSeconds: 0 })), ['mark-and-remove', at(0), 0, 2, undefined]);
});

test('a period only becomes shorter, and never ends in the past', () => {
  const going = onNode({ deletionTimestamp: at(60), deletionGracePeriodSeconds: 60, generation: 2 });
  assert.deepEqual(plan(going), { kind: 'nothing' });
  assert.deepEqual(plan(going, { gracePeriodSeconds: 60 }), { kind: 'nothing' });
  assert.deepEqual(metadataOf(plan(going, { gracePeriodSeconds: 10 })), ['mark', at(10), 10, 2, undefined]);
  const late = onNode({ deletionTimestamp: at(5), deletionGracePeriodSeconds: 60, generation: 2 });
  assert.deepEqual(metadataOf(plan(late, { gracePeriodSeconds: 10 })), ['mark', at(0), 1, 2, undefined]);
  assert.deepEqual(plan(late, { gracePeriodSeconds: 0 }), { kind: 'remove' });
});

test('a graceful deletion has its finalizers from the first request on', () => {
  assert.deepEqual(metadataOf(plan(onNode(), { propagationPolicy: 'Foreground' })), ['mark', at(30), 30, 2, ['foregroundDeletion']]);
  const going = onNode({ deletionTimestamp: at(60), deletionGracePeriodSeconds: 60 });
  assert.deepEqual(plan(going, { propagationPolicy: 'Orphan' }), { kind: 'nothing' });
  const held = onNode({ finalizers: ['a/b'] }, 'Failed');
  assert.deepEqual(metadataOf(plan(held)), ['mark', at(0), 0, 2, ['a/b']]);
});

test('what holds an object is marked, once, and counts a generation where there is one', () => {
  assert.deepEqual(metadataOf(plan(map({ finalizers: ['a/b'] }), {}, configMap)), ['mark', at(0), 0, undefined, ['a/b']]);
  const marked = map({ finalizers: ['a/b'], deletionTimestamp: at(-9), deletionGracePeriodSeconds: 0, generation: 3 });
  assert.deepEqual(metadataOf(plan(marked, {}, configMap)), ['mark', at(-9), 0, 3, ['a/b']]);
  assert.deepEqual(plan(map(), {}, configMap), { kind: 'remove' });
});

const propagation: readonly (readonly [string, Kind, DeleteOptions, readonly string[], readonly string[]])[] = [
  ['the policy of the request wins', configMap, { propagationPolicy: 'Background' }, ['orphan', 'a/b'], ['a/b']],
  ['a policy takes the place of the other', configMap, { propagationPolicy: 'Foreground' }, ['orphan'], ['foregroundDeletion']],
  ['without one the object keeps its own', configMap, {}, ['foregroundDeletion'], ['foregroundDeletion']],
  ['the old word for orphans', configMap, { orphanDependents: true }, [], ['orphan']],
  ['the old word for none', orphaning, { orphanDependents: false }, ['a/b', 'orphan'], ['a/b']],
  ['what is usual for the kind comes last', orphaning, {}, [], ['orphan']],
  ['and does not replace what the object carries', orphaning, {}, ['foregroundDeletion'], ['foregroundDeletion']],
  ['an event has no dependents', eventKind, { propagationPolicy: 'Foreground' }, [], []],
];
for (const [name, kind, options, before, after] of propagation) {
  test(`finalizers of a deletion: ${name}`, () => {
    const planned = plan(map({ finalizers: before }), options, kind);
    assert.deepEqual('object' in planned ? planned.object.metadata.finalizers : [], after);
  });
}

test('a namespace is marked first, then waits for its content, then goes', () => {
  const fresh = aNamespace({ spec: { finalizers: ['kubernetes'] } });
  const first = plan(fresh, {}, namespaceKind);
  assert.deepEqual(metadataOf(first), ['mark', at(0), undefined, undefined, undefined]);
  const terminating = aNamespace({ metadata: { deletionTimestamp: at(0) }, spec: { finalizers: ['kubernetes'] } });
  assert.deepEqual(plan(terminating, {}, namespaceKind), { kind: 'nothing' });
  assert.deepEqual(plan({ ...terminating, spec: {} } as KubeObject, {}, namespaceKind), { kind: 'remove' });
});
