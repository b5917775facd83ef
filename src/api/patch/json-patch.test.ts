import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { applyJsonPatch } from './json-patch.ts';
import { PatchDoesNotApply } from './patch-does-not-apply.ts';

const table: readonly (readonly [name: string, object: unknown, operations: readonly unknown[], expected: unknown])[] = [
  ['adds a key', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  ['adds over a key', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
  ['inserts into a list', [1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
  ['appends to a list', [1], [{ op: 'add', path: '/-', value: 2 }], [1, 2]],
  ['adds the whole', { a: 1 }, [{ op: 'add', path: '', value: 3 }], 3],
  ['removes a key', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
  ['removes an item', { l: [1, 2, 3] }, [{ op: 'remove', path: '/l/1' }], { l: [1, 3] }],
  ['replaces deep down', { a: { b: [{ c: 1 }] } }, [{ op: 'replace', path: '/a/b/0/c', value: 2 }], { a: { b: [{ c: 2 }] } }],
  ['moves', { a: 1, b: {} }, [{ op: 'move', from: '/a', path: '/b/c' }], { b: { c: 1 } }],
  ['copies', { a: { x: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }], { a: { x: 1 }, b: { x: 1 } }],
  ['tests and goes on', { a: { x: [1] } }, [{ op: 'test', path: '/a', value: { x: [1] } }], { a: { x: [1] } }],
  ['tests that nothing is there', {}, [{ op: 'test', path: '/a', value: null }], {}],
  [
    'reads escapes',
    { 'a/b': 1, 'm~n': 2 },
    [
      { op: 'remove', path: '/a~1b' },
      { op: 'replace', path: '/m~0n', value: 3 },
    ],
    { 'm~n': 3 },
  ],
];

for (const [name, object, operations, expected] of table) {
  test(`a JSON patch ${name}`, () => {
    const before = structuredClone(object);
    assert.deepEqual(applyJsonPatch(object, operations), expected);
    assert.deepEqual(object, before);
  });
}

for (const operation of [
  { op: 'remove', path: '/gone' },
  { op: 'replace', path: '/gone', value: 1 },
  { op: 'add', path: '/gone/x', value: 1 },
  { op: 'add', path: '/l/3', value: 1 },
  { op: 'add', path: '/l/01', value: 1 },
  { op: 'remove', path: '/l/-' },
  { op: 'test', path: '/a', value: 2 },
  { op: 'copy', from: '/gone', path: '/b' },
  { op: 'move', from: '/l', path: '/l/0' },
  { op: 'replace', path: '/__proto__/x', value: 1 },
  { op: 'fly', path: '/a' },
  { op: 'add', path: 'a', value: 1 },
  { op: 'add', path: '/a' },
  { op: 'move', path: '/a' },
]) {
  test(`the operation ${JSON.stringify(operation)} does not apply`, () =>
    assert.throws(() => applyJsonPatch({ a: 1, l: [1, 2] }, [operation]), PatchDoesNotApply));
}

for (const operations of [{}, [1]]) {
  test(`${JSON.stringify(operations)} is no JSON patch`, () =>
    assert.throws(
      () => applyJsonPatch({ a: 1 }, operations),
      (error) => error instanceof InvalidInput && !(error instanceof PatchDoesNotApply),
    ));
}

test('what was added can be removed', () => {
  const keys = fc.string({ unit: fc.constantFrom('a', '/', '~', '1', '_') });
  fc.assert(
    fc.property(fc.dictionary(keys, fc.jsonValue()), keys, fc.jsonValue(), (object, key, value) => {
      const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const added = applyJsonPatch(object, [
        { op: 'add', path, value },
        { op: 'test', path, value },
      ]);
      const { [key]: _, ...rest } = object;
      assert.deepEqual(applyJsonPatch(added, [{ op: 'remove', path }]), { ...rest });
    }),
  );
});
