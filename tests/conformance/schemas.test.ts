import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedTables } from '#api/schema/generated/tables.ts';
import { type FieldSchema, type MessageSchema, schemaOf } from '#api/schema/message-schema.ts';
import { factsOf } from './facts/facts.ts';

/** Written by hand in our schemas, since their JSON is not an object of their fields. */
const typeMeta = new Set(['apiVersion', 'kind']);

/** The two lists of upstream's facts are of different releases here: the numbers that go over the wire know other fields. */
const changedUpstream = new Set([
  'core.v1.NodeAllocatableResourceClaimStatus.resources',
  'resource.v1.Device.nodeAllocatableResourceMappings',
  'resource.v1.NodeAllocatableResourceMapping',
]);
/** Not messages: the answer of `/version`, and the objects of aggregation, which is not built. */
const notMessages = (type: string) => type === 'version.Info' || type.startsWith('apiregistration.v1.') || changedUpstream.has(type);

function messageOf(type: string): MessageSchema | undefined {
  const dot = type.lastIndexOf('.');
  return generatedTables[type.slice(0, dot)]?.[type.slice(dot + 1)] === undefined ? undefined : schemaOf(type);
}

const ruleOf = (field: FieldSchema) =>
  [field.required ? 'required' : '', field.listType ?? '', field.listKeys.join(','), field.patchStrategies.join(','), field.mergeKey ?? ''].join('|');

test('every field of every stable type has its rules: required, list type and keys, patch strategy and merge key', () => {
  const wrong: string[] = [];
  let checked = 0;
  for (const [type = '', name = '', , ...rules] of factsOf('types')) {
    const message = messageOf(type);
    if (message === undefined || message.form !== 'object' || typeMeta.has(name) || name === '-') continue;
    if (changedUpstream.has(`${type}.${name}`)) continue;
    const field = message.jsonFields.get(name);
    const expected = rules.slice(0, 5).join('|');
    const actual = field === undefined ? 'missing' : ruleOf(field);
    if (actual !== expected) wrong.push(`${type}.${name}: ${actual} instead of ${expected}`);
    checked++;
  }
  assert.deepEqual(wrong, []);
  assert.ok(checked > 1500, `${checked} fields were compared`);
});

test('every stable type has a schema', () => {
  const types = new Set(factsOf('types').map(([type = '']) => type));
  const missing = [...types].filter((type) => messageOf(type) === undefined && !type.endsWith('List') && !notMessages(type));
  assert.deepEqual(missing, []);
});
