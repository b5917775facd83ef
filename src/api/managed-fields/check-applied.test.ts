import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaOf } from '../schema/message-schema.ts';
import { checkApplied } from './check-applied.ts';
import type { JsonObject } from './field-type.ts';
import { typeOfMessage } from './message-type.ts';

const deployment = typeOfMessage(schemaOf('apps.v1.Deployment'));
const pod = typeOfMessage(schemaOf('core.v1.Pod'));
const containers = (...list: readonly unknown[]) => ({ spec: { containers: list } });

test('a whole object with nulls passes', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', creationTimestamp: null },
    ...containers({ name: 'a', ports: [{ containerPort: 80 }] }),
  };
  assert.equal(checkApplied(pod, object), '');
});

const wrong: readonly (readonly [JsonObject, string])[] = [
  [{ spec: { foo: 1 } }, '.spec.foo: field not declared in schema'],
  [{ spec: { selector: { foo: 1 } } }, '.spec.selector.foo: field not declared in schema'],
  [{ spec: { template: { metadata: { unknownSubMeta: 1 } } } }, '.spec.template.metadata.unknownSubMeta: field not declared in schema'],
  [{ spec: { replicas: '3' } }, '.spec.replicas: expected numeric (int or float), got string'],
  [{ spec: { paused: 'yes' } }, '.spec.paused: expected boolean, got string'],
  [{ metadata: { labels: { a: true } } }, '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:true}'],
  [{ metadata: { labels: ['a'] } }, '.metadata.labels: expected map, got &{[a]}'],
  [{ metadata: { finalizers: { a: 'b' } } }, '.metadata.finalizers: expected list, got &{map[a:b]}'],
  [{ metadata: { finalizers: ['a', 'a'] } }, '.metadata.finalizers: duplicate entries for key [="a"]'],
  [{ metadata: { finalizers: [null] } }, ".metadata.finalizers: element 0: associative list without keys has an element that's an explicit null"],
];

for (const [object, problem] of wrong) {
  test(`refused: ${problem}`, () => assert.equal(checkApplied(deployment, object), problem));
}

test('items that cannot be told apart are refused, each with its place', () => {
  assert.equal(checkApplied(pod, containers({ name: 'a' }, { name: 'a' })), '.spec.containers: duplicate entries for key [name="a"]');
  const both = checkApplied(pod, containers({ image: 'x' }, { name: 'b', ports: [{ containerPort: 80, protocol: 'TCP' }, { containerPort: 80 }] }));
  assert.equal(
    both,
    'errors:\n' +
      '  .spec.containers: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)\n' +
      '  .spec.containers[name="b"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]',
  );
  assert.equal(checkApplied(pod, containers(null)), '.spec.containers: element 0: associative list with keys may not have a null element');
});

test('items of a list that is owned as a whole are named by their place', () => {
  assert.equal(checkApplied(pod, { spec: { tolerations: [{}, { foo: 1 }] } }), '.spec.tolerations[1].foo: field not declared in schema');
});
