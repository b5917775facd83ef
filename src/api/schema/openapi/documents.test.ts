import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { kinds } from '#api/kinds/index.ts';
import type { Json } from './definitions.ts';
import { loadDescriptions } from './descriptions.ts';
import { openApiV2, openApiV3 } from './documents.ts';
import { encodeOpenApiV2 } from './protobuf-v2.ts';

const descriptions = await loadDescriptions();
const v2 = openApiV2(kinds, 'v1.36.0', descriptions);
const v3 = openApiV3(kinds, '', 'v1', 'v1.36.0', descriptions);

/** Follows names into a document. */
function at(document: unknown, ...path: readonly string[]): unknown {
  return path.reduce(
    (value, key) => (typeof value === 'object' && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined),
    document,
  );
}

function objectAt(document: unknown, ...path: readonly string[]): Json {
  const value = at(document, ...path);
  assert.ok(typeof value === 'object' && value !== null, path.join('/'));
  return { ...value };
}

function refsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner)));
}

test('every reference leads to a definition', () => {
  for (const [document, definitions] of [
    [v2, at(v2, 'definitions')],
    [v3, at(v3, 'components', 'schemas')],
  ] as const) {
    const names = new Set(Object.keys(definitions ?? {}));
    assert.ok(names.size > 100);
    assert.deepEqual(
      refsOf(document).filter((ref) => !names.has(ref.replace(/^.*\//, ''))),
      [],
    );
  }
});

test('a pod is known by its group, version and kind, and its lists by their merge keys', () => {
  const pod = at(v2, 'definitions', 'io.k8s.api.core.v1.Pod');
  assert.deepEqual(at(pod, 'x-kubernetes-group-version-kind'), [{ group: '', version: 'v1', kind: 'Pod' }]);
  const { description, ...volumes } = objectAt(v2, 'definitions', 'io.k8s.api.core.v1.PodSpec', 'properties', 'volumes');
  assert.match(String(description), /^List of volumes that can be mounted by containers belonging to the pod\./);
  assert.deepEqual(volumes, {
    type: 'array',
    items: { $ref: '#/definitions/io.k8s.api.core.v1.Volume' },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-strategy': 'merge,retainKeys',
    'x-kubernetes-patch-merge-key': 'name',
  });
  assert.deepEqual(at(v3, 'components', 'schemas', 'io.k8s.api.core.v1.PodSpec', 'required'), ['containers']);
});

test('a patch tells kubectl that it may ask for field validation and dry run', () => {
  for (const document of [v2, v3]) {
    const patch = at(document, 'paths', '/api/v1/namespaces/{namespace}/pods/{name}', 'patch');
    assert.deepEqual(at(patch, 'x-kubernetes-group-version-kind'), { group: '', version: 'v1', kind: 'Pod' });
    const parameters: unknown = at(patch, 'parameters');
    const names = Array.isArray(parameters) ? parameters.map((parameter) => at(parameter, 'name')) : [];
    assert.ok(['dryRun', 'fieldValidation', 'fieldManager'].every((name) => names.includes(name)));
  }
});

test('a field that refers to an object has its own description, in the way of each dialect', () => {
  const lifecycle = /^Actions that the management system should take in response to container lifecycle events\./;
  const ofV2 = objectAt(v2, 'definitions', 'io.k8s.api.core.v1.Container', 'properties', 'lifecycle');
  assert.match(String(ofV2['description']), lifecycle);
  assert.equal(ofV2['$ref'], '#/definitions/io.k8s.api.core.v1.Lifecycle');
  const ofV3 = objectAt(v3, 'components', 'schemas', 'io.k8s.api.core.v1.Container', 'properties', 'lifecycle');
  assert.match(String(ofV3['description']), lifecycle);
  assert.deepEqual(ofV3['allOf'], [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Lifecycle' }]);
});

test('every kind, and nearly every field of its spec, is described', () => {
  const definitions = Object.entries(objectAt(v2, 'definitions'));
  const ofKinds = definitions.filter(([, definition]) => at(definition, 'x-kubernetes-group-version-kind') !== undefined);
  const silent = ofKinds.filter(([, definition]) => at(definition, 'description') === undefined).map(([name]) => name);
  assert.deepEqual(silent, []);
  const fields = definitions.flatMap(([, definition]) => Object.values(at(definition, 'properties') ?? {}));
  const described = fields.filter((field) => at(field, 'description') !== undefined);
  assert.ok(described.length > 0.95 * fields.length, `${described.length} of ${fields.length}`);
});

test('operations have ids of their own', () => {
  const ids = (value: unknown): readonly unknown[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => (key === 'operationId' ? [inner] : ids(inner)));
  const all = ids(at(v2, 'paths'));
  assert.equal(new Set(all).size, all.length);
});

test('the binary form carries the same definitions and paths', () => {
  const types = protobuf.parse(`syntax = "proto3"; package t;
    message Document { string swagger = 1; Info info = 2; Paths paths = 8; Definitions definitions = 9; }
    message Info { string title = 1; string version = 2; }
    message Paths { repeated NamedPathItem path = 2; }
    message NamedPathItem { string name = 1; }
    message Definitions { repeated NamedSchema additional_properties = 1; }
    message NamedSchema { string name = 1; Schema value = 2; }
    message Schema { string _ref = 1; repeated string required = 19; TypeItem type = 22; Definitions properties = 25; repeated NamedAny vendor_extension = 31; }
    message TypeItem { repeated string value = 1; }
    message NamedAny { string name = 1; Any value = 2; }
    message Any { string yaml = 2; }`).root;
  const decoded = types.lookupType('t.Document').decode(encodeOpenApiV2(v2)).toJSON();
  const named = (list: unknown): Json =>
    Object.fromEntries(Array.isArray(list) ? list.map((item) => [String(at(item, 'name')), at(item, 'value')]) : []);
  assert.deepEqual(Object.keys(named(at(decoded, 'paths', 'path'))), Object.keys(at(v2, 'paths') ?? {}));
  const definitions = named(at(decoded, 'definitions', 'additionalProperties'));
  assert.deepEqual(Object.keys(definitions), Object.keys(at(v2, 'definitions') ?? {}));
  const pod = definitions['io.k8s.api.core.v1.Pod'];
  assert.deepEqual(at(pod, 'type', 'value'), ['object']);
  const yaml = at(named(at(pod, 'vendorExtension')), 'x-kubernetes-group-version-kind', 'yaml');
  assert.equal(yaml, '[{"group":"","version":"v1","kind":"Pod"}]');
});
