import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { apply } from './apply.ts';
import { compare } from './compare.ts';
import { applyConflict } from './conflict-status.ts';
import { capped, type Entry, entryOf, givenEntries, parseEntries, storedEntries } from './entries.ts';
import { namedFields } from './extract.ts';
import { isBare, leaf, pathsOf, setOfPath } from './field-set.ts';
import type { JsonObject } from './field-type.ts';
import { merge } from './merge.ts';
import { smallObject, smallType } from './testing/small-type.ts';
import { type FieldWriter, trackUpdate } from './track-update.ts';

const writer = (manager: string, time = '2026-01-02T03:04:05Z', more: Partial<FieldWriter> = {}): FieldWriter => ({
  ...{ type: smallType, manager, apiVersion: 'v1', subresource: '', unowned: leaf, time },
  ...more,
});

interface State {
  readonly object: JsonObject;
  readonly entries: readonly Entry[];
}

function applied(state: State, manager: string, object: JsonObject, isForced = true): State {
  const result = apply(state.object, state.entries, object, writer(manager), isForced);
  if (result.kind === 'conflict') throw applyConflict(result.conflicts);
  return result;
}

function updated(state: State, manager: string, object: JsonObject): State {
  return { object, entries: trackUpdate(state.entries, state.object, object, writer(manager)) };
}

const nothing: State = { object: {}, entries: [] };
const owns = ({ entries }: State, manager: string) => pathsOf(entries.find((entry) => entry.manager === manager)?.fieldsV1 ?? leaf);

test('applying twice is applying once: object, owners and their times stay', () => {
  fc.assert(
    fc.property(smallObject, smallObject, smallObject, (live, other, object) => {
      const before = applied(applied(updated(nothing, 'u', live), 'o', other), 'm', object);
      const result = apply(before.object, before.entries, object, writer('m', 'later'), false);
      assert.deepEqual(result, { kind: 'applied', ...before });
    }),
  );
});

test('after an apply its manager owns what it named, no more and no less, and the object has it', () => {
  fc.assert(
    fc.property(smallObject, smallObject, smallObject, (live, first, second) => {
      const state = applied(applied(updated(nothing, 'u', live), 'm', first), 'm', second);
      const named = namedFields(smallType, second);
      assert.deepEqual(state.entries.find(({ manager }) => manager === 'm')?.fieldsV1 ?? leaf, named);
      assert.equal(compare(smallType, state.object, merge(smallType, state.object, second))?.modified ?? leaf, leaf);
    }),
  );
});

test('a forced apply cannot conflict and takes the fields of others; one that is not forced changes nothing when it conflicts', () => {
  fc.assert(
    fc.property(smallObject, smallObject, (live, object) => {
      const state = applied(nothing, 'other', live);
      const gentle = apply(state.object, state.entries, object, writer('m'), false);
      const forced = apply(state.object, state.entries, object, writer('m'), true);
      assert.equal(forced.kind, 'applied');
      if (gentle.kind === 'applied') assert.deepEqual(gentle, forced);
      else assert.ok(gentle.conflicts.every(({ fields }) => !isBare(fields)));
    }),
  );
});

test('25: given apply by A of 3 and by B of 5, then B gets a conflict; with force B owns it and A has lost it', () => {
  const first = applied(nothing, 'a', { count: 3, name: 'n' });
  assert.throws(() => applied(first, 'b', { count: 5 }, false), { message: 'Apply failed with 1 conflict: conflict with "a": .count' });
  const second = applied(first, 'b', { count: 5 });
  assert.deepEqual([second.object, owns(second, 'a'), owns(second, 'b')], [{ count: 5, name: 'n' }, ['.name'], ['.count']]);
});

test('26: given A re-applies without a field, then it is removed when only A owned it and stays when another owns it too', () => {
  const first = applied(applied(nothing, 'a', { count: 3, name: 'n', tags: ['x', 'y'] }), 'b', { name: 'n', tags: ['y'] });
  const second = applied(first, 'a', { labels: { k: 'v' } });
  assert.deepEqual(second.object, { name: 'n', tags: ['y'], labels: { k: 'v' } });
  assert.deepEqual(owns(second, 'b'), ['.name', '.tags[="y"]']);
});

test('given a struct of which only A owned anything, when A drops it, then what the server put beside goes with it', () => {
  const first = applied(nothing, 'a', { inner: { a: 'x' } });
  const second = applied({ ...first, object: { inner: { a: 'x', b: 1 } } }, 'a', { name: 'n' });
  assert.deepEqual(second.object, { name: 'n' });
});

test('an update takes what it changes from all others, and what it removes is nobody’s', () => {
  const first = applied(nothing, 'a', { count: 3, name: 'n', labels: { k: 'v', l: 'w' } });
  const second = updated(first, 'u', { count: 4, labels: { k: 'v', m: 'x' } });
  assert.deepEqual([owns(second, 'a'), owns(second, 'u')], [['.labels.k'], ['.count', '.labels.m']]);
});

test('a manager without a name owns as others do, and its entry does not say a name', () => {
  const first = updated(nothing, '', { a: 1 });
  assert.deepEqual(
    first.entries.map((entry) => 'manager' in entry),
    [false],
  );
  const second = updated({ object: { a: 1 }, entries: givenEntries(parseEntries(first.entries), first.entries) }, '', { a: 2 });
  assert.deepEqual(second.entries, first.entries);
});

test('an update that changes nothing leaves the owners alone, one by the same manager moves its time', () => {
  const first = updated(nothing, 'u', { count: 1 });
  assert.equal(trackUpdate(first.entries, { count: 1 }, { count: 1 }, writer('v')), first.entries);
  const again = trackUpdate(first.entries, { count: 1 }, { count: 2 }, writer('u', 'later'));
  assert.deepEqual(again, [{ ...first.entries[0], time: 'later' }]);
});

test('endpoints and versions are owners of their own; an applier is one through all versions', () => {
  const state = updated(nothing, 'm', { count: 1 });
  const status = trackUpdate(state.entries, { count: 1 }, { count: 1, name: 'n' }, writer('m', 'later', { subresource: 'status' }));
  const newer = trackUpdate(status, { count: 1, name: 'n' }, { count: 1, name: 'n', list: ['x'] }, writer('m', 'last', { apiVersion: 'v2' }));
  assert.deepEqual(
    newer.map(({ apiVersion, subresource, time }) => [apiVersion, subresource, time]),
    [
      ['v1', undefined, '2026-01-02T03:04:05Z'],
      ['v2', undefined, 'last'],
      ['v1', 'status', 'later'],
    ],
  );
  const first = applied(nothing, 'a', { count: 1 });
  const second = apply(first.object, first.entries, { name: 'n' }, writer('a', 'later', { apiVersion: 'v2' }), false);
  assert.deepEqual(second.kind === 'applied' && second.entries.map(({ apiVersion }) => apiVersion), ['v2']);
});

test('given an object without owners, then the first apply finds them', () => {
  const state = applied({ object: { count: 3, name: 'n' }, entries: [] }, 'a', { count: 3 });
  assert.deepEqual([owns(state, 'before-first-apply'), owns(state, 'a')], [['.count', '.name'], ['.count']]);
  assert.throws(
    () => applied({ object: { count: 3 }, entries: [] }, 'a', { count: 4 }, false),
    /conflict with "before-first-apply" using v1: \.count$/,
  );
});

test('conflicts with several managers are told in their order, those through a subresource with it', () => {
  const first = applied(nothing, 'm2', { labels: { k: 'v', l: 'w' } });
  const second = {
    object: { ...first.object, count: 1 },
    entries: trackUpdate(first.entries, first.object, { ...first.object, count: 1 }, writer('m1', '', { subresource: 'scale' })),
  };
  const result = apply(second.object, second.entries, { count: 2, labels: { k: 'x', l: 'y' } }, writer('m'), false);
  const { status } = applyConflict(result.kind === 'conflict' ? result.conflicts : []);
  assert.equal(
    status.message,
    'Apply failed with 3 conflicts: conflicts with "m1" with subresource "scale" using v1:\n- .count\nconflicts with "m2":\n- .labels.k\n- .labels.l',
  );
  assert.deepEqual(status.details?.causes?.[0], {
    reason: 'FieldManagerConflict',
    message: 'conflict with "m1" with subresource "scale" using v1',
    field: '.count',
  });
});

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const metaType: FieldWriter['type'] = {
  kind: 'struct',
  isAtomic: false,
  alwaysThere: [],
  field: (name) =>
    name === 'metadata'
      ? { element: 'f:metadata', default: undefined, type: { kind: 'untyped' } }
      : name === 'apiVersion'
        ? { element: 'f:apiVersion', default: undefined, type: { kind: 'scalar', accepts: 'string' } }
        : smallType.field(name),
};

test('given a client-side apply, then kubectl takes over what it set without a conflict, and only kubectl', () => {
  const configuration = { apiVersion: 'v1', count: 3 };
  const object = { ...configuration, metadata: { annotations: { [lastApplied]: JSON.stringify(configuration) } } };
  const kubectl = (manager: string, live: JsonObject) =>
    apply(
      live,
      trackUpdate([], {}, live, writer('kubectl-client-side-apply', '', { type: metaType })),
      { apiVersion: 'v1', count: 4 },
      writer(manager, '', { type: metaType }),
      false,
    );
  const taken = kubectl('kubectl', object);
  assert.equal(taken.kind, 'applied');
  assert.deepEqual(taken.kind === 'applied' && taken.object, {
    apiVersion: 'v1',
    count: 4,
    metadata: { annotations: { [lastApplied]: '{"apiVersion":"v1","count":4,"metadata":{}}\n' } },
  });
  assert.equal(kubectl('somebody', object).kind, 'conflict');
  assert.equal(kubectl('kubectl', { ...object, count: 5 }).kind, 'conflict');
});

test('of more than ten updaters the oldest of a version become one', () => {
  const entries = Array.from({ length: 12 }, (_, index) =>
    entryOf(
      { manager: `m${String(index).padStart(2, '0')}`, operation: 'Update', apiVersion: index === 0 ? 'v0' : 'v1', subresource: '' },
      setOfPath([`f:${index}`]),
      `t${String(index).padStart(2, '0')}`,
    ),
  );
  const left = capped(entries);
  const ancient = left.find(({ manager }) => manager === 'ancient-changes');
  assert.equal(left.length, 10);
  assert.deepEqual([ancient?.apiVersion, ancient?.time, pathsOf(ancient?.fieldsV1 ?? leaf)], ['v1', 't03', ['.1', '.2', '.3']]);
  assert.deepEqual(capped(entries.slice(2)), entries.slice(2));
});

test('63: an empty list or an empty entry forgets all owners, an absent one none; what makes no sense is passed over', () => {
  const stored = updated(nothing, 'u', { count: 1 }).entries;
  assert.deepEqual([givenEntries([], stored), givenEntries([{}], stored)], [[], []]);
  assert.equal(givenEntries(undefined, stored), stored);
  assert.equal(givenEntries(structuredClone(stored), stored), stored);
  const bad = [{ manager: 'x', operation: 'Steal', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }];
  assert.equal(givenEntries(bad, stored), stored);
  assert.deepEqual(storedEntries(bad), []);
  const other = [{ ...stored[0], manager: 'v', fieldsV1: { 'f:name': {}, 'f:count': {} } }];
  assert.deepEqual(JSON.stringify(givenEntries(other, stored)[0]?.fieldsV1), '{"f:count":{},"f:name":{}}');
});

test('what is wrong with an entry is said', () => {
  const good = { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } };
  const bad = [{ operation: '' }, { apiVersion: '' }, { fieldsType: 'V2' }, { fieldsV1: { 'k:x': {} } }];
  for (const entry of bad) assert.throws(() => parseEntries([good, { ...good, ...entry }]), InvalidInput);
  assert.throws(() => parseEntries([{ ...good, fieldsType: '' }]), { message: 'missing fieldsType in managed fields entry 0' });
  assert.deepEqual(parseEntries([good]), [good]);
});
