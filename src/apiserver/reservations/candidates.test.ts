import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { candidates } from './candidates.ts';

test('every number is tried once, those of the band last and in order', () => {
  const ranges = fc.record({ first: fc.bigInt(0n, 2n ** 64n), count: fc.bigInt(0n, 200n), band: fc.bigInt(0n, 250n) });
  fc.assert(
    fc.property(ranges, ({ first, count, band }) => {
      const all = [...candidates(first, first + count - 1n, band)];
      assert.equal(all.length, Number(count));
      assert.equal(new Set(all).size, all.length);
      assert.ok(all.every((number) => number >= first && number < first + count));
      const banded = band > 0n && band < count ? Array.from({ length: Number(band) }, (_, index) => first + BigInt(index)) : [];
      assert.deepEqual(all.slice(all.length - banded.length), banded);
    }),
  );
});

test('the first number differs from time to time', () => {
  const firsts = new Set(Array.from({ length: 50 }, () => candidates(0n, 2n ** 40n, 16n).next().value));
  assert.ok(firsts.size > 40);
});
