import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OwnerReference } from '#api/types/meta-v1.ts';
import { type Effect, type ObservedMetadata, OwnerGraph } from './graph.ts';
import type { ObjectIdentity } from './identity.ts';

const id = (name: string, namespace = 'ns', kind = 'Thing'): ObjectIdentity => ({ apiVersion: 'v1', kind, namespace, name, uid: `uid-${name}` });
const ref = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Thing',
  name,
  uid: `uid-${name}`,
  ...more,
});
const owned = (...owners: readonly OwnerReference[]): ObservedMetadata => ({ ownerReferences: owners });
const going = (finalizer: string, ...owners: readonly OwnerReference[]): ObservedMetadata => ({
  deletionTimestamp: 'now',
  finalizers: [finalizer],
  ownerReferences: owners,
});
const shown = (effects: readonly Effect[]) =>
  effects.map((effect) => {
    if (effect.kind === 'look' || effect.kind === 'orphan') return `${effect.kind} ${effect.uid.slice(4)}`;
    return effect.kind === 'absent' ? `absent ${effect.identity.namespace}/${effect.identity.name}` : `misplaced ${effect.dependent.name}`;
  });

test('an owner that nobody has seen is looked for, once it is seen the reference is good', () => {
  const graph = new OwnerGraph();
  assert.deepEqual(shown(graph.observe(id('pod'), owned(ref('set')))), ['look set']);
  assert.equal(graph.get('uid-set')?.isVirtual, true);
  assert.deepEqual(shown(graph.observe(id('set'), {})), []);
  assert.deepEqual([graph.get('uid-set')?.isVirtual, graph.get('uid-set')?.dependents.size], [false, 1]);
});

test('an owner that does not exist leaves dependents to be looked at', () => {
  const graph = new OwnerGraph();
  graph.observe(id('pod'), owned(ref('set')));
  assert.deepEqual(shown(graph.confirmAbsent(id('set'))), ['absent ns/set', 'look pod']);
  assert.equal(graph.get('uid-set'), undefined);
});

test('when an owner goes, its dependents are looked at, and an owner that waits for it', () => {
  const graph = new OwnerGraph();
  graph.observe(id('deployment'), {});
  graph.observe(id('set'), owned(ref('deployment', { blockOwnerDeletion: true })));
  graph.observe(id('pod'), owned(ref('set')));
  assert.deepEqual(shown(graph.observe(id('deployment'), going('foregroundDeletion'))), ['look set', 'look deployment']);
  assert.deepEqual(shown(graph.observe(id('deployment'), going('foregroundDeletion'))), []);
  assert.deepEqual(shown(graph.forget('uid-set')), ['absent ns/set', 'look pod', 'look deployment']);
});

test('a dependent that no longer holds its owner up is news for the owner', () => {
  const graph = new OwnerGraph();
  graph.observe(id('set'), {});
  graph.observe(id('pod'), owned(ref('set', { blockOwnerDeletion: true })));
  assert.deepEqual(shown(graph.observe(id('pod'), owned(ref('set', { blockOwnerDeletion: false })))), ['look set']);
  graph.observe(id('pod'), owned(ref('set', { blockOwnerDeletion: true })));
  assert.deepEqual(shown(graph.observe(id('pod'), owned())), ['look set']);
  assert.equal(graph.get('uid-set')?.dependents.size, 0);
});

test('an orphaning owner is told once', () => {
  const graph = new OwnerGraph();
  assert.deepEqual(shown(graph.observe(id('set'), going('orphan'))), ['orphan set']);
  assert.deepEqual(shown(graph.observe(id('set'), going('orphan'))), []);
});

test('an owner in another namespace is no owner: the dependent is told of and looked at, whichever is seen first', () => {
  const first = new OwnerGraph();
  first.observe(id('set'), {});
  assert.deepEqual(shown(first.observe(id('pod', 'other'), owned(ref('set')))), ['misplaced pod', 'look pod']);
  const second = new OwnerGraph();
  second.observe(id('pod', 'other'), owned(ref('set')));
  assert.deepEqual(shown(second.observe(id('set'), {})), ['misplaced pod', 'look pod']);
  // What the look for it in the dependent's own namespace finds does not touch the real one.
  assert.deepEqual(shown(second.confirmAbsent(id('set', 'other'))), ['absent other/set', 'look pod']);
  assert.equal(second.get('uid-set')?.isVirtual, false);
});

test('a cluster-scoped owner may be named from anywhere', () => {
  const graph = new OwnerGraph();
  graph.observe(id('node', ''), {});
  assert.deepEqual(shown(graph.observe(id('pod'), owned(ref('node')))), []);
  assert.deepEqual(shown(graph.observe(id('volume', ''), owned(ref('node')))), []);
});

test('dependents that disagree on who their owner is get their looks in turn', () => {
  const graph = new OwnerGraph();
  graph.observe(id('a'), owned({ ...ref('set'), name: 'one' }));
  graph.observe(id('b'), owned({ ...ref('set'), name: 'two' }));
  const one = { ...id('set'), name: 'one' };
  assert.deepEqual(shown(graph.confirmAbsent(one)), ['absent ns/one', 'look a', 'look set']);
  assert.equal(graph.get('uid-set')?.identity.name, 'two');
  graph.forget('uid-a');
  assert.deepEqual(shown(graph.confirmAbsent({ ...one, name: 'two' })), ['absent ns/two', 'look b']);
});

test('what can no longer be seen is kept as far as others name it', () => {
  const graph = new OwnerGraph();
  graph.observe(id('owner'), {});
  graph.observe(id('thing'), owned(ref('owner')));
  graph.observe(id('pod'), owned(ref('thing')));
  assert.deepEqual(shown(graph.lose('uid-thing')), ['look thing']);
  assert.deepEqual([graph.get('uid-thing')?.isVirtual, graph.get('uid-owner')?.dependents.size], [true, 0]);
  assert.deepEqual(shown(graph.observe(id('thing'), owned(ref('owner')))), []);
  assert.deepEqual([graph.get('uid-thing')?.dependents.size, graph.get('uid-owner')?.dependents.size], [1, 1]);
  graph.lose('uid-pod');
  assert.equal(graph.get('uid-pod'), undefined);
});

type Step = { readonly at: number } & ({ readonly owners: readonly number[] } | { readonly lost: boolean } | { readonly gone: true });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ at: fc.nat(5), owners: fc.uniqueArray(fc.nat(5), { maxLength: 3 }) }) },
  fc.record({ at: fc.nat(5), lost: fc.constant(true) }),
  fc.record({ at: fc.nat(5), gone: fc.constant(true as const) }),
);

test('the graph knows exactly who belongs to whom, whatever comes in which order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const graph = new OwnerGraph();
      const model = new Map<string, readonly string[]>();
      const generation = new Map<number, number>();
      const nameOf = (at: number) => `${at}.${generation.get(at) ?? 0}`;
      for (const one of steps) {
        const name = nameOf(one.at);
        if ('owners' in one) {
          const owners = one.owners.map(nameOf);
          model.set(name, owners);
          graph.observe(id(name), owned(...owners.map((owner) => ref(owner))));
        } else if ('lost' in one) {
          if (!model.has(name)) continue; // only what was seen can be lost
          model.delete(name);
          graph.lose(`uid-${name}`);
        } else {
          if (!model.has(name)) continue;
          const dependents = [...model].filter(([, owners]) => owners.includes(name)).map(([dependent]) => `look ${dependent}`);
          model.delete(name);
          const looked = shown(graph.forget(`uid-${name}`));
          for (const look of dependents) if (look !== `look ${name}`) assert.ok(looked.includes(look), `${look} is missing`);
          // Who is made again has another uid, and those who named the old one look for nobody: they are about to go.
          generation.set(one.at, (generation.get(one.at) ?? 0) + 1);
          for (const [dependent, owners] of model)
            if (owners.includes(name))
              model.set(
                dependent,
                owners.filter((owner) => owner !== name),
              );
          for (const [dependent, owners] of model) graph.observe(id(dependent), owned(...owners.map((owner) => ref(owner))));
        }
      }
      const named = new Set([...model.values()].flat());
      for (const name of new Set([...model.keys(), ...named])) {
        const node = graph.get(`uid-${name}`);
        assert.equal(node?.isVirtual, !model.has(name), name);
        const dependents = [...model].filter(([, owners]) => owners.includes(name)).map(([dependent]) => dependent);
        assert.deepEqual([...(node?.dependents ?? [])].map(({ identity }) => identity.name).sort(), dependents.sort());
      }
      assert.equal(graph.size, new Set([...model.keys(), ...named]).size);
    }),
    { numRuns: 300 },
  );
});
