import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { difference, intersection, isBare, leaf, parseFieldSet, pathsOf, union, within } from './field-set.ts';
import { someSet } from './testing/small-type.ts';

test('a set that is written and read is the same set, in the order of the format', () => {
  fc.assert(
    fc.property(someSet, (set) => {
      const text = JSON.stringify(set);
      assert.equal(JSON.stringify(parseFieldSet(JSON.parse(text))), text);
    }),
  );
});

test('union, difference and intersection obey the laws of sets', () => {
  fc.assert(
    fc.property(someSet, someSet, someSet, (a, b, c) => {
      assert.deepEqual(union(a, b), union(b, a));
      assert.deepEqual(union(union(a, b), c), union(a, union(b, c)));
      assert.deepEqual(union(a, a), a);
      assert.ok(isBare(difference(a, a)));
      assert.deepEqual(difference(difference(a, b), c), difference(a, union(b, c)));
      assert.deepEqual(intersection(a, b), intersection(b, a));
      assert.deepEqual(intersection(a, b), difference(a, difference(a, b)));
      assert.deepEqual(union(difference(a, b), intersection(a, b)), a);
    }),
  );
});

test('what takes nothing away gives back the very same set', () => {
  fc.assert(
    fc.property(someSet, (set) => {
      assert.equal(difference(set, { 'f:elsewhere': leaf }), set);
      assert.equal(union(set, leaf), set);
      assert.equal(union(set, set), set);
    }),
  );
});

test('owning a node is not owning what lies below it, nor the other way round', () => {
  const item = { '.': leaf, 'f:image': leaf };
  assert.deepEqual(difference({ 'f:a': item }, { 'f:a': leaf }), { 'f:a': { 'f:image': leaf } });
  assert.deepEqual(difference({ 'f:a': item }, { 'f:a': { 'f:image': leaf } }), { 'f:a': leaf });
  assert.deepEqual(difference({ 'f:a': leaf }, { 'f:a': { 'f:image': leaf } }), { 'f:a': leaf });
  assert.deepEqual(union({ 'f:a': leaf }, { 'f:a': { 'f:image': leaf } }), { 'f:a': item });
});

test('within a pattern a leaf stands for all that lies below it, a star for any item', () => {
  const set = {
    'f:metadata': { 'f:labels': { 'f:a': leaf } },
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': leaf, 'f:image': leaf, 'f:resources': { 'f:limits': leaf } } }, 'f:nodeName': leaf },
  };
  const pattern = { 'f:metadata': leaf, 'f:spec': { 'f:containers': { '*': { 'f:resources': leaf } } } };
  assert.deepEqual(within(set, pattern), {
    'f:metadata': { 'f:labels': { 'f:a': leaf } },
    'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:resources': { 'f:limits': leaf } } } },
  });
  assert.ok(isBare(within(set, { 'f:status': leaf })));
});

test('fields, keys, values and indexes stand in this order, keys by their names and numbers by their size', () => {
  const given = {
    'i:2': {},
    'v:"x"': {},
    'k:{"protocol":"TCP", "port":443}': {},
    'k:{"port":80,"protocol":"TCP"}': {},
    'f:b': {},
    'f:a': { 'f:z': {}, '.': {} },
  };
  assert.deepEqual(
    JSON.stringify(parseFieldSet(given)),
    '{"f:a":{".":{},"f:z":{}},"f:b":{},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{},"k:{\\"port\\":443,\\"protocol\\":\\"TCP\\"}":{},"v:\\"x\\"":{},"i:2":{}}',
  );
});

test('what a newer server may have written is passed over, what is no set is refused', () => {
  assert.deepEqual(parseFieldSet({ 'f:a': { 'z:new': {} }, 'x:y': {}, '.': {} }), { 'f:a': {} });
  for (const bad of [null, [], 'text', { 'f:a': 1 }, { 'f:a': null }, { 'k:{': {} }, { 'k:1': {} }, { 'v:': {} }, { 'i:x': {} }]) {
    assert.throws(() => parseFieldSet(bad), InvalidInput, JSON.stringify(bad));
  }
});

test('paths are as people read them, those of a node before what lies below', () => {
  const set = {
    'f:metadata': { 'f:labels': { '.': leaf, 'f:app.kubernetes.io/name': leaf } },
    'f:spec': {
      'f:containers': { 'k:{"name":"a"}': { '.': leaf, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': leaf } } },
      'f:finalizers': { 'v:"x"': leaf },
      'f:replicas': leaf,
    },
  };
  assert.deepEqual(pathsOf(set), [
    '.metadata.labels',
    '.metadata.labels.app.kubernetes.io/name',
    '.spec.replicas',
    '.spec.containers[name="a"]',
    '.spec.containers[name="a"].ports[containerPort=80,protocol="TCP"]',
    '.spec.finalizers[="x"]',
  ]);
});
