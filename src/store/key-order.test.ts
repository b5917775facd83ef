import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { checkKey, compareKeys, endOfPrefix } from './key-order.ts';

/** Few characters, those at the edges of UTF-8 and UTF-16 among them, so that prefixes often match. */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '\x7f', '\u0080', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  maxLength: 4,
});

test('keys sort as their bytes do', () => {
  assert.ok(compareKeys('\uffff', '\u{10000}') < 0);
  assert.ok(compareKeys('a', 'a/') < 0);
  assert.equal(compareKeys('a', 'a'), 0);
});

test('exactly the keys from a prefix up to its end have the prefix', () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const end = endOfPrefix(prefix);
      const isBetween = compareKeys(key, prefix) >= 0 && (end === undefined || compareKeys(key, end) < 0);
      assert.equal(isBetween, key.startsWith(prefix), `${JSON.stringify(prefix)} to ${JSON.stringify(end)}`);
    }),
  );
});

test('no prefix and the highest characters have no end', () => {
  assert.deepEqual(['', '\u{10ffff}', 'a\u{10ffff}', '/registry/'].map(endOfPrefix), [undefined, undefined, 'b', '/registry0']);
});

test('a key that no medium could keep is refused', () => {
  for (const key of ['', 'a\0', '\ud800', 'a\udc00b']) assert.throws(() => checkKey(key), InvalidInput);
  for (const key of ['a', '/\u{1F600}', '\uffff']) checkKey(key);
});
