import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '#base/errors.ts';
import { configMap } from './kinds/core/v1/config-map.ts';
import { node } from './kinds/core/v1/node.ts';
import { fieldSelectorFor, labelSelectorMatches, parseFieldSelector, parseLabelSelector } from './selector.ts';
import { aConfigMap } from './testing/objects.ts';

const labels = { app: 'web', tier: '', size: '10', 'example.com/role': 'a' };

for (const [selector, expected] of [
  ['', true],
  ['app', true],
  ['!app', false],
  ['!gone', true],
  ['gone', false],
  ['app=web', true],
  ['app==web', true],
  ['app = db', false],
  ['app!=web', false],
  ['gone!=web', true],
  ['tier=', true],
  ['app=', false],
  ['app in (db, web)', true],
  ['app in (db)', false],
  ['app notin (db)', true],
  ['gone notin (db)', true],
  ['tier in (,x)', true],
  ['tier in ()', true],
  ['size>9', true],
  ['size<9', false],
  ['app>1', false],
  ['example.com/role=a,app=web', true],
  ['app=web,!app', false],
] as const) {
  test(`the label selector ${JSON.stringify(selector)} ${expected ? 'takes' : 'leaves'} the object`, () =>
    assert.equal(parseLabelSelector(selector).matches(labels), expected));
}

for (const [selector, message] of [
  ['a,', "unable to parse requirement: found '', expected: identifier after ','"],
  ['=a', "unable to parse requirement: found '=', expected: !, identifier, or 'end of string'"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a in b', "unable to parse requirement: found 'b', expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a=b=c', "unable to parse requirement: found '=', expected: ',' or 'end of string'"],
  ['a>x', `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
] as const) {
  test(`the label selector ${JSON.stringify(selector)} is refused`, () => assert.throws(() => parseLabelSelector(selector), { message }));
}

test('a label selector object: absent takes nothing, empty takes everything', () => {
  assert.equal(labelSelectorMatches(undefined, labels), false);
  assert.equal(labelSelectorMatches({}, labels), true);
  assert.equal(labelSelectorMatches({ matchLabels: { app: 'web' } }, labels), true);
  assert.equal(labelSelectorMatches({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, labels), false);
  assert.equal(labelSelectorMatches({ matchExpressions: [{ key: 'gone', operator: 'DoesNotExist' }] }, undefined), true);
  assert.throws(() => labelSelectorMatches({ matchExpressions: [{ key: 'a', operator: 'Has' }] }, labels), InvalidInput);
});

test('a field selector understands three operators and escapes', () => {
  const selector = parseFieldSelector('a=1,b==x\\,y\\=\\\\,c!=3,');
  assert.deepEqual(selector.requirements, [
    { field: 'a', operator: '=', value: '1' },
    { field: 'b', operator: '=', value: 'x,y=\\' },
    { field: 'c', operator: '!=', value: '3' },
  ]);
  assert.equal(selector.exactValue('a'), '1');
  assert.equal(selector.exactValue('c'), undefined);
  assert.equal(
    selector.matches((field) => ({ a: '1', b: 'x,y=\\' })[field] ?? ''),
    true,
  );
  assert.equal(parseFieldSelector('').isEverything, true);
});

test('a field selector that cannot be read is refused', () => {
  assert.throws(() => parseFieldSelector('a=1,b'), { message: "invalid selector: 'a=1,b'; can't understand 'b'" });
  assert.throws(() => parseFieldSelector('a=\\x'), { message: 'invalid field selector: invalid escape sequence: \\x' });
});

test('a kind takes selectors of its own fields only', () => {
  const object = aConfigMap();
  assert.equal(fieldSelectorFor(configMap, parseFieldSelector('metadata.name=settings,metadata.namespace=default'))(object), true);
  assert.throws(() => fieldSelectorFor(configMap, parseFieldSelector('data=1')), {
    message: '"data" is not a known field selector: only "metadata.name", "metadata.namespace"',
  });
  assert.throws(() => fieldSelectorFor(node, parseFieldSelector('metadata.namespace=x')), {
    message: 'field label not supported: metadata.namespace',
  });
});

test('what a selector takes, its negation leaves', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-'), minLength: 1, maxLength: 6 }).map((text) => `x${text}y`);
  fc.assert(
    fc.property(fc.dictionary(word, word), word, word, (object, key, value) => {
      assert.notEqual(parseLabelSelector(`${key}=${value}`).matches(object), parseLabelSelector(`${key}!=${value}`).matches(object));
      assert.notEqual(parseLabelSelector(key).matches(object), parseLabelSelector(`!${key}`).matches(object));
      const listed = parseLabelSelector(`${key} in (${value},zz)`).matches(object);
      assert.notEqual(listed, parseLabelSelector(`${key} notin (${value}, zz)`).matches(object));
    }),
  );
});

test('no text makes a parser fail in another way', () => {
  const text = fc.string({ unit: fc.constantFrom(...'ab=!(),<>\\ in'), maxLength: 20 });
  fc.assert(
    fc.property(text, (selector) => {
      for (const parse of [parseLabelSelector, parseFieldSelector]) {
        try {
          parse(selector);
        } catch (error) {
          assert.ok(error instanceof InvalidInput);
        }
      }
    }),
  );
});
