import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference } from '#api/types/meta-v1.ts';
import { OwnerGraph } from './graph.ts';
import { blockersOf, planObject, unblocked, withoutOwners } from './plan.ts';

const ref = (uid: string, blockOwnerDeletion?: boolean): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Thing',
  name: uid,
  uid,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});
const owners = (solid: readonly string[], dangling: readonly string[] = [], waiting: readonly string[] = []) => ({
  solid: solid.map((uid) => ref(uid)),
  dangling: dangling.map((uid) => ref(uid)),
  waiting: waiting.map((uid) => ref(uid)),
});
const settled = { waitsFor: undefined };
const foreground = { waitsFor: 'deleted-dependents' } as const;

test('an object with an owner that stays is kept, without those that do not', () => {
  assert.deepEqual(planObject({}, owners(['a']), []), { kind: 'keep' });
  assert.deepEqual(planObject({}, owners(['a'], ['b'], ['c']), [settled]), { kind: 'disown', uids: ['b', 'c'] });
});

test('an object whose owners are all gone goes, in the way that it asks for itself', () => {
  const plan = (finalizers: readonly string[], waiting: readonly string[] = []) => planObject({ finalizers }, owners([], ['a'], waiting), []);
  assert.deepEqual(plan([]), { kind: 'delete', propagation: 'Background', unblocksOwners: false });
  assert.deepEqual(plan(['orphan']), { kind: 'delete', propagation: 'Orphan', unblocksOwners: false });
  assert.deepEqual(plan(['foregroundDeletion']), { kind: 'delete', propagation: 'Foreground', unblocksOwners: false });
  assert.deepEqual(plan([], ['b']), { kind: 'delete', propagation: 'Background', unblocksOwners: false });
});

test('with an owner that waits, an object takes its dependents first; in a circle it lets its owner go', () => {
  assert.deepEqual(planObject({}, owners([], [], ['a']), [settled]), { kind: 'delete', propagation: 'Foreground', unblocksOwners: false });
  assert.deepEqual(planObject({}, owners([], [], ['a']), [settled, foreground]), { kind: 'delete', propagation: 'Foreground', unblocksOwners: true });
});

test('only dependents that say so hold their owner up', () => {
  const graph = new OwnerGraph();
  const identity = (uid: string) => ({ apiVersion: 'v1', kind: 'Thing', namespace: 'ns', name: uid, uid });
  graph.observe(identity('owner'), {});
  graph.observe(identity('a'), { ownerReferences: [ref('owner', true)] });
  graph.observe(identity('b'), { ownerReferences: [ref('owner', false), ref('x', true)] });
  const node = graph.get('owner');
  assert.ok(node !== undefined);
  assert.deepEqual(
    blockersOf(node).map((blocker) => blocker.identity.uid),
    ['a'],
  );
});

test('references are taken out or unblocked, others stay as they are', () => {
  const all = [ref('a', true), ref('b')];
  assert.deepEqual(withoutOwners(all, ['a']), [ref('b')]);
  assert.deepEqual(unblocked(all), [ref('a', false), ref('b')]);
});
