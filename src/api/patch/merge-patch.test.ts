import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyMergePatch } from './merge-patch.ts';

const table: readonly (readonly [object: unknown, patch: unknown, expected: unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

for (const [object, patch, expected] of table) {
  test(`${JSON.stringify(object)} with ${JSON.stringify(patch)} is ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(applyMergePatch(object, patch), expected));
}

test('a patch that was applied once changes nothing the second time, and never changes its arguments', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (object, patch) => {
      const before = structuredClone({ object, patch });
      const once = applyMergePatch(object, patch);
      assert.deepEqual(applyMergePatch(once, patch), once);
      assert.deepEqual({ object, patch }, before);
    }),
  );
});
