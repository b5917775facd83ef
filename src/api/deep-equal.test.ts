import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepEqual, semanticEqual } from './deep-equal.ts';

test('order of keys and absent fields make no difference, order of items does', () => {
  assert.equal(deepEqual({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2, d: undefined }], a: 1 }), true);
  assert.equal(deepEqual([1, 2], [2, 1]), false);
  assert.equal(deepEqual({ a: 1 }, { a: 1, b: null }), false);
  assert.equal(deepEqual([], {}), false);
  assert.equal(deepEqual({}, { toString: 'x' }), false);
  assert.equal(deepEqual({ constructor: undefined }, {}), true);
});

test('what Go leaves out makes no difference either, except where zero means something', () => {
  assert.equal(semanticEqual({ hostNetwork: false, volumes: [], labels: {}, name: '' }, {}), true);
  assert.equal(semanticEqual({ containers: [{ name: 'a', tty: false }] }, { containers: [{ name: 'a' }] }), true);
  assert.equal(semanticEqual({ runAsUser: 0 }, {}), false);
  assert.equal(semanticEqual({ hostNetwork: true }, {}), false);
  assert.equal(semanticEqual({ args: [''] }, { args: [] }), false);
});

test('a value is equal to its copy, and equality goes both ways', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.ok(deepEqual(a, structuredClone(a)));
      assert.ok(semanticEqual(a, structuredClone(a)));
      assert.equal(deepEqual(a, b), deepEqual(b, a));
    }),
  );
});
