import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
  quantityOfMilli,
  quantityToMilli,
  quantityToNumber,
  subtractQuantities,
} from './quantity.ts';

const canonical: readonly (readonly [string | number, string])[] = [
  ['1500m', '1500m'],
  ['1.5', '1500m'],
  ['1000m', '1'],
  ['0.5Gi', '512Mi'],
  ['1024Mi', '1Gi'],
  ['1000k', '1M'],
  ['100000', '100k'],
  ['1e3', '1e3'],
  ['1E3', '1e3'],
  ['1E', '1E'],
  ['1.5Gi', '1536Mi'],
  ['1023', '1023'],
  ['0.5Ki', '512'],
  ['1.5Ki', '1536'],
  ['0.1Ki', '102400m'],
  ['0', '0'],
  ['0Ki', '0'],
  ['-1Ki', '-1Ki'],
  ['-1500m', '-1500m'],
  ['+5', '5'],
  ['.5', '500m'],
  ['5.', '5'],
  ['1n', '1n'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1e-12', '1e-9'],
  ['1e-1', '100e-3'],
  [2, '2'],
  [0.25, '250m'],
  ['9223372036854775807', '9223372036854775807'],
  ['1e30', '9223372036854775807'],
  ['8Ei', '9223372036854775807'],
  ['100Gi', '100Gi'],
];

for (const [text, expected] of canonical) {
  test(`the quantity ${text} is printed as ${expected}`, () => assert.equal(canonicalQuantity(text), expected));
}

for (const [text, message] of [
  ['', /must match the regular expression/],
  ['1 Gi', /must match the regular expression/],
  ['abc', /must match the regular expression/],
  ['1KI', /must match the regular expression|suffix/],
  ['1Kim', /suffix/],
  ['1e', /suffix/],
  ['Ki', /numeric part/],
  ['1.2.3', /must match the regular expression/],
] as const) {
  test(`the text ${JSON.stringify(text)} is no quantity`, () =>
    assert.throws(
      () => parseQuantity(text),
      (error) => error instanceof InvalidInput && message.test(error.message),
    ));
}

test('whole units and thousandths are rounded up', () => {
  assert.equal(quantityToNumber('1500m'), 2);
  assert.equal(quantityToNumber('64Mi'), 67_108_864);
  assert.equal(quantityToNumber('-1500m'), -1);
  assert.equal(quantityToMilli('250m'), 250);
  assert.equal(quantityToMilli('1u'), 1);
  assert.equal(quantityToMilli('2'), 2000);
});

const amounts = fc.tuple(
  fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'Ki', 'Mi', 'e3', 'e-3', 'e0'),
);
const texts = amounts.map(([digits, suffix]) => `${digits}${suffix}`);

test('printing keeps the amount and is stable', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const once = canonicalQuantity(text);
      assert.equal(parseQuantity(once).nanos, parseQuantity(text).nanos);
      assert.equal(canonicalQuantity(once), once);
    }),
  );
});

test('what was added can be taken away, in any order, and comparing agrees with subtracting', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      assert.equal(compareQuantities(subtractQuantities(addQuantities(a, b), b), a), 0);
      assert.equal(compareQuantities(addQuantities(a, b), addQuantities(b, a)), 0);
      assert.equal(compareQuantities(a, b), compareQuantities(subtractQuantities(a, b), '0'));
    }),
  );
});

test('a number of units or thousandths survives printing', () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom('DecimalSI', 'BinarySI', 'DecimalExponent'), (value, format) => {
      assert.equal(quantityToNumber(formatQuantity(quantityOf(value, format))), value);
      assert.equal(quantityToMilli(formatQuantity(quantityOfMilli(value))), value);
    }),
  );
});

test('no text makes the parser fail in another way', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.eEKkMmGinu+- ') }), (text) => {
      try {
        parseQuantity(text);
      } catch (error) {
        assert.ok(error instanceof InvalidInput);
      }
    }),
  );
});
