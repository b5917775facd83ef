import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRange, parseRange, rangesOverlap, subrange } from './ipv4-range.ts';

const anyRange = fc
  .tuple(fc.nat({ max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 32 }))
  .map(([address, prefix]) => ({ first: address - (address % 2 ** (32 - prefix)), prefix }));

test('a range that was printed is read back equal', () => {
  fc.assert(fc.property(anyRange, (range) => assert.deepEqual(parseRange(formatRange(range)), range)));
});

test('two ranges overlap exactly when one begins inside the other', () => {
  const holds = (range: { first: number; prefix: number }, address: number) =>
    Math.floor(address / 2 ** (32 - range.prefix)) === Math.floor(range.first / 2 ** (32 - range.prefix));
  fc.assert(
    fc.property(anyRange, anyRange, (left, right) => {
      assert.equal(rangesOverlap(left, right), holds(left, right.first) || holds(right, left.first));
    }),
  );
});

test('parts of a range follow each other, do not overlap, and start over after the last', () => {
  const whole = parseRange('10.64.0.0/10');
  assert.equal(formatRange(subrange(whole, 20, 0)), '10.64.0.0/20');
  assert.equal(formatRange(subrange(whole, 20, 1)), '10.64.16.0/20');
  assert.equal(formatRange(subrange(whole, 20, 1023)), '10.127.240.0/20');
  assert.equal(formatRange(subrange(whole, 20, 1024)), '10.64.0.0/20');
});

test('what is no range is refused', () => {
  for (const text of ['10.0.0.0', '10.0.0.0/33', '256.0.0.0/8', 'fd00::/8', '']) assert.throws(() => parseRange(text), { code: 'INVALID_INPUT' });
  assert.throws(() => parseRange('10.64.1.0/20'), { hint: 'did you mean 10.64.0.0/20?' });
});
