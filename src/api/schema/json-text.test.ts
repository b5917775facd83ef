import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { readJsonFields } from './json-fields.ts';
import { parseJsonText } from './json-text.ts';

const messageFor = (text: string) => {
  try {
    parseJsonText(text);
  } catch (error) {
    assert.ok(error instanceof InvalidInput);
    return error.message;
  }
  throw new Error(`${text} was read`);
};
const duplicatesIn = (text: string) =>
  parseJsonText(text)
    .fields.filter(({ isDuplicate }) => isDuplicate)
    .map(({ path }) => path);

test('keys that stand there twice are told with their paths, in order, and the last one counts', () => {
  const text = '{"spec":{"a":1,"b":[{"c":1,"c":2},{"c":3}],"a":2},"x":{"y:\\"":1,"y:\\"":2}}';
  assert.deepEqual(duplicatesIn(text), ['spec.b[0].c', 'spec.a', 'x.y:"']);
  assert.deepEqual(parseJsonText('{"a":1,"a":2}').value, { a: 2 });
});

test('where no key stands twice nothing is collected', () => {
  assert.deepEqual(parseJsonText('{"a":{"b":"c:\\"d\\":"},"b":["x",{"b" : 1}],"__proto__":1}').fields, []);
});

test('any value is read as JSON.parse does, and its keys are those that are written', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.values(value).reduce((sum: number, item) => sum + count(item), Array.isArray(value) ? 0 : Object.keys(value).length);
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (json, space) => {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value, undefined, space);
      assert.deepEqual(parseJsonText(text), { value, fields: [] });
      assert.equal(readJsonFields(text).length, count(value));
    }),
  );
});

test('whatever is no JSON for JSON.parse is none for the reader that says why', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '\\',
    '\\u00e4',
    '0',
    '12',
    '-',
    '.5',
    'e',
    'E+1',
    'true',
    'nul',
    ' ',
    '\n',
    'x',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const reads = (read: (text: string) => unknown) => {
        try {
          read(text);
          return true;
        } catch {
          return false;
        }
      };
      assert.equal(reads(readJsonFields), reads(JSON.parse), text);
    }),
    { numRuns: 2000 },
  );
});

const errors: readonly (readonly [string, string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['tru3', "invalid character '3' in literal true (expecting 'e')"],
  ["'", "invalid character '\\'' looking for beginning of value"],
  ['ä', "invalid character 'Ã' looking for beginning of value"],
  [`${'['.repeat(2000)}`, 'exceeded max depth'],
  [`${'['.repeat(600)}${']'.repeat(600)}`, 'exceeded max depth'],
];
for (const [text, message] of errors) {
  test(`what is wrong with ${JSON.stringify(text.slice(0, 20))} is said in upstream's words`, () => assert.equal(messageFor(text), message));
}
