import fc from 'fast-check';
import { type FieldSet, isBare, leaf, setOfPath, union } from '../field-set.ts';
import { type FieldType, type JsonObject, type ScalarType, type StructType, untyped } from '../field-type.ts';
import { fieldElement, keyElement, valueElement } from '../path-element.ts';

const text: ScalarType = { kind: 'scalar', accepts: 'string' };
const number: ScalarType = { kind: 'scalar', accepts: 'number' };

function struct(fields: Readonly<Record<string, FieldType>>, isAtomic = false): StructType {
  const known = new Map(Object.entries(fields).map(([name, type]) => [name, { element: fieldElement(name), type, default: undefined }]));
  return { kind: 'struct', isAtomic, field: (name) => known.get(name), alwaysThere: [] };
}

/** A type with every way of owning in it. */
export const smallType: StructType = struct({
  name: text,
  count: number,
  labels: { kind: 'map', isAtomic: false, values: text },
  selector: { kind: 'map', isAtomic: true, values: text },
  items: {
    kind: 'list',
    owned: 'map',
    keys: ['name'],
    items: struct({ name: text, value: number, tags: { kind: 'list', owned: 'set', keys: [], items: text } }),
  },
  tags: { kind: 'list', owned: 'set', keys: [], items: text },
  list: { kind: 'list', owned: 'atomic', keys: [], items: text },
  inner: struct({ a: text, b: number, deep: struct({ c: text }) }),
  ref: struct({ name: text }, true),
  free: untyped,
});

const word = fc.constantFrom('a', 'b', 'c', 'd');
const digit = fc.integer({ min: 0, max: 3 });
const tags = fc.uniqueArray(word, { maxLength: 3 });
const words = fc.dictionary(word, word, { maxKeys: 3, noNullPrototype: true });
const optional: { requiredKeys: []; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true };
const items = fc.uniqueArray(fc.record({ name: word, value: digit, tags }, { requiredKeys: ['name'], noNullPrototype: true }), {
  maxLength: 3,
  selector: ({ name }) => name,
});
const inner = fc.record({ a: word, b: digit, deep: fc.record({ c: word }, optional) }, optional);
const free = fc.oneof(word, words, fc.dictionary(word, words, { maxKeys: 2, noNullPrototype: true }));

/** Objects of the small type. */
export const smallObject: fc.Arbitrary<JsonObject> = fc.record(
  {
    ...{ name: word, count: digit, labels: words, selector: words, items, tags, list: fc.array(word, { maxLength: 3 }), inner, free },
    ref: fc.record({ name: word }, optional),
  },
  optional,
);

const element = fc.oneof(
  word.map(fieldElement),
  word.map((name) => keyElement([['name', name]])),
  digit.map((port) =>
    keyElement([
      ['protocol', 'TCP'],
      ['port', port],
    ]),
  ),
  fc.oneof(word, digit).map(valueElement),
  digit.map((index) => `i:${index}`),
);

/** Sets of any shape, a path at a time. */
export const someSet: fc.Arbitrary<FieldSet> = fc
  .array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 6 })
  .map((paths) => paths.map(setOfPath).reduce(union, leaf));

/** Whether `a` has all of `b`. */
export function hasAll(a: FieldSet, b: FieldSet, without: (a: FieldSet, b: FieldSet) => FieldSet): boolean {
  return isBare(without(b, a));
}
