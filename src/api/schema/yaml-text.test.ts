import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInput } from '#base/errors.ts';
import { parseYamlText } from './yaml-text.ts';

test('keys that stand twice in a map are told with their lines', () => {
  const text = 'metadata:\n  name: a\n  name: b\n  labels: {x: y, x: z}\n1: 2\n1: 3\n';
  assert.deepEqual(parseYamlText(text), {
    value: { metadata: { name: 'b', labels: { x: 'z' } }, 1: 3 },
    duplicates: ['line 3: key "name" already set in map', 'line 4: key "x" already set in map', 'line 6: key 1 already set in map'],
  });
});

test('values are those of YAML 1.1, times and bytes stay text', () => {
  const { value } = parseYamlText('mode: 0644\non: yes\nat: 2001-12-14\nlength: 1:30\nnothing:\nquoted: "no"\n');
  assert.deepEqual(value, { mode: 420, true: true, at: '2001-12-14', length: '1:30', nothing: null, quoted: 'no' });
});

test('of several documents the first one counts', () => {
  assert.deepEqual(parseYamlText('a: 1\n---\nb: 2\n').value, { a: 1 });
});

test('what cannot be read names its line, and a document that unfolds without end is refused', () => {
  assert.throws(
    () => parseYamlText('a: 1\nb: c: d\n'),
    (error: unknown) => error instanceof InvalidInput && /^yaml: line 2: /.test(error.message),
  );
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefg'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[at]}`).join(',')}]`),
  ];
  assert.throws(() => parseYamlText(bomb.join('\n')), InvalidInput);
});

test('JSON is YAML: it means the same, and its mistakes are told as those of YAML', () => {
  assert.deepEqual(parseYamlText('{"a": "yes", "b": [1, {"c": null}]}'), { value: { a: 'yes', b: [1, { c: null }] }, duplicates: [] });
  assert.deepEqual(parseYamlText('{"a": 1,\n"a": 2}').duplicates, ['line 2: key "a" already set in map']);
  assert.deepEqual(parseYamlText('{a: yes}').value, { a: true });
});
