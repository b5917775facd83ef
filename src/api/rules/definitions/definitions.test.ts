import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { customResourceDefinition as kind } from '#api/kinds/apiextensions/v1/custom-resource-definition.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '#api/types/apiextensions-v1.ts';

const plain: JSONSchemaProps = { type: 'object', properties: { spec: { type: 'object' } } };
const version = (name: string, more: object = {}) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: plain }, ...more });
const spec = { group: 'example.com', names: { plural: 'tests', kind: 'Test' }, scope: 'Namespaced', versions: [version('v1')] };
function made(changes: object = {}, annotations: Record<string, string> = {}, name = 'tests.example.com'): CustomResourceDefinition {
  const metadata = { name, uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z', annotations };
  const given = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec: { ...spec, ...changes } };
  return kind.prepareCreate(kind.setDefaults(given as CustomResourceDefinition)); // its parts may be wrong on purpose
}
const problemsOf = (...of: Parameters<typeof made>) => kind.validate(made(...of)).map(problemText);
const ofSchema = (schema: JSONSchemaProps) => problemsOf({ versions: [version('v1', { schema: { openAPIV3Schema: schema } })] });
const at = 'spec.validation.openAPIV3Schema';
const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

test('a definition has the names that follow from its kind, and knows which version it stores; it is not established', () => {
  const definition = made();
  assert.deepEqual(problemsOf(), []);
  assert.deepEqual(definition.spec.names, { plural: 'tests', kind: 'Test', singular: 'test', listKind: 'TestList' });
  assert.deepEqual(definition.spec.conversion, { strategy: 'None' });
  assert.deepEqual(definition.status, { acceptedNames: { plural: '', kind: '' }, conditions: [], storedVersions: ['v1'] });
  const moved = { ...definition, spec: { ...definition.spec, versions: [version('v1', { storage: false }), version('v2', { storage: true })] } };
  const updated = kind.prepareUpdate(moved, definition);
  assert.deepEqual([updated.status?.storedVersions, updated.metadata.generation], [['v1', 'v2'], 2]);
  const gone = { ...updated, spec: { ...updated.spec, versions: [version('v2', { storage: true })] } };
  assert.deepEqual(kind.validateUpdate(gone, updated).map(problemText), [
    'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
  ]);
});

test('names, group, scope and versions are checked in upstream’s words', () => {
  assert.deepEqual(problemsOf({ group: 'example', scope: 'Odd' }, {}, 'x'), [
    'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
    'spec.group: Invalid value: "example": should be a domain with at least one dot',
    'spec.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespaced"',
  ]);
  const names = { plural: 'tests', kind: 'Te_st', listKind: 'Te_st', shortNames: ['T'], singular: 'test' };
  assert.deepEqual(problemsOf({ names }), [
    `spec.names.kind: Invalid value: "Te_st": may have mixed case, but should otherwise match: ${dns1035}`,
    `spec.names.shortNames[0]: Invalid value: "T": ${dns1035}`,
    `spec.names.listKind: Invalid value: "Te_st": may have mixed case, but should otherwise match: ${dns1035}`,
    'spec.names.listKind: Invalid value: "Te_st": kind and listKind may not be the same',
  ]);
  const [first, second] = problemsOf({ versions: [version('v1'), version('v1', { deprecationWarning: 'old' })] }).filter((text) =>
    text.startsWith('spec.versions: '),
  );
  assert.match(first ?? '', /: must contain unique version names$/);
  assert.match(second ?? '', /: must have exactly one version marked as storage version$/);
  assert.deepEqual(problemsOf({ versions: [version('v1', { deprecationWarning: 'old' })] }), [
    'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
  ]);
  assert.deepEqual(problemsOf({ preserveUnknownFields: true }), [
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  ]);
});

test('groups of Kubernetes itself need an approval', () => {
  const ofGroup = (text?: string) =>
    problemsOf({ group: 'x.k8s.io' }, text === undefined ? {} : { 'api-approved.kubernetes.io': text }, 'tests.x.k8s.io');
  const field = 'metadata.annotations[api-approved.kubernetes.io]';
  const groups = 'protected groups must have approval annotation "api-approved.kubernetes.io"';
  const source = 'see https://github.com/kubernetes/enhancements/pull/1111';
  assert.deepEqual(ofGroup(), [`${field}: Required value: ${groups}, ${source}`]);
  assert.deepEqual(ofGroup('because'), [
    `${field}: Invalid value: "because": ${groups} with either a URL or a reason starting with "unapproved", ${source}`,
  ]);
  assert.deepEqual([ofGroup('unapproved, for tests'), ofGroup('https://example.com/1')], [[], []]);
});

test('what is the same in all versions is reported once, what differs where it stands', () => {
  const bad = { schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } };
  assert.deepEqual(problemsOf({ versions: [version('v1', bad), version('v2', bad)] }), [
    `${at}.properties[a].type: Required value: must not be empty for specified object fields`,
  ]);
  assert.deepEqual(problemsOf({ versions: [version('v1'), version('v2', bad)] }), [
    'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
  ]);
  assert.deepEqual(problemsOf({ versions: [version('v1', { schema: undefined })] }), [
    'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
  ]);
});

test('columns, scale and selectable fields are found by simple paths', () => {
  const more = {
    subresources: { scale: { specReplicasPath: '.status.replicas', statusReplicasPath: '', labelSelectorPath: '.metadata.x' } },
    additionalPrinterColumns: [{ name: '', type: 'odd', format: 'odd', jsonPath: 'spec.x' }],
    selectableFields: [{ jsonPath: '.metadata.name' }, { jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }],
  };
  assert.deepEqual(problemsOf({ versions: [version('v1', more)] }), [
    'spec.subresources.scale.specReplicasPath: Invalid value: ".status.replicas": should be a json path under .spec',
    'spec.subresources.scale.statusReplicasPath: Required value',
    'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.x": should be a json path under either .spec or .status',
    'spec.additionalPrinterColumns[0].name: Required value',
    'spec.additionalPrinterColumns[0].type: Invalid value: "odd": must be one of boolean,date,integer,number,string',
    'spec.additionalPrinterColumns[0].format: Invalid value: "odd": must be one of byte,date,date-time,double,float,int32,int64,password',
    'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.x": must be a simple json path starting with .',
    'spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
    'spec.selectableFields[2].jsonPath: Duplicate value: ".spec.a"',
  ]);
});

test('a conversion by webhook says how to reach it', () => {
  assert.deepEqual(problemsOf({ conversion: { strategy: 'Webhook' } }), [
    'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    'spec.conversion.conversionReviewVersions: Required value',
  ]);
  const webhook = { clientConfig: { service: { namespace: 'n', name: 's' } }, conversionReviewVersions: ['v2'] };
  assert.deepEqual(problemsOf({ conversion: { strategy: 'Webhook', webhook } }), [
    'spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: none of the versions accepted by this server. accepted version(s) are v1, v1beta1',
  ]);
  assert.deepEqual(problemsOf({ conversion: { strategy: 'None', webhook } }), [
    'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
  ]);
});

test('a schema says the type of everything, and only what the dialect has', () => {
  assert.deepEqual(ofSchema({}), [`${at}.type: Required value: must not be empty at the root`]);
  assert.deepEqual(ofSchema({ type: 'string', nullable: true, $ref: '#/x' }), [
    `${at}.$ref: Forbidden: $ref is not supported`,
    `${at}.nullable: Forbidden: nullable cannot be true at the root`,
    `${at}.type: Invalid value: "string": must be object at the root`,
  ]);
  const properties: Record<string, JSONSchemaProps> = {
    list: { type: 'array' },
    odd: { type: 'odd', uniqueItems: true },
    open: { 'x-kubernetes-preserve-unknown-fields': true },
    both: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  };
  assert.deepEqual(ofSchema({ type: 'object', properties }), [
    `${at}.properties[list].items: Required value: must be specified`,
    `${at}.properties[odd].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    `${at}.properties[odd].type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    `${at}.properties[both].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
  ]);
  assert.deepEqual(
    ofSchema({
      type: 'object',
      additionalProperties: { type: 'string' },
      properties: { metadata: { type: 'object', properties: { labels: {} } } },
    }).slice(0, 3),
    [
      `${at}.additionalProperties: Forbidden: must not be used at the root`,
      `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
      `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  );
});

test('alternatives restrict values and say nothing of their own', () => {
  const anyOf = [{ type: 'object', properties: { a: { minimum: 1 }, b: {} }, nullable: true }];
  assert.deepEqual(ofSchema({ type: 'object', properties: { a: { type: 'integer' } }, anyOf }), [
    `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
    `${at}.anyOf[0].nullable: Forbidden: must be false to be structural`,
    `${at}.properties[b]: Required value: because it is defined in ${at}.anyOf[0].properties[b]`,
  ]);
});

test('lists that are maps have keys that are there', () => {
  const list = (more: JSONSchemaProps) => ofSchema({ type: 'object', properties: { l: { type: 'array', ...more } } });
  const items: JSONSchemaProps = { type: 'object', properties: { k: { type: 'string' }, o: { type: 'object' } } };
  const l = `${at}.properties[l]`;
  assert.deepEqual(list({ items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'o'] }), [
    `${l}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    `${l}.items.properties[o].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    `${l}.items.properties[o].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
  ]);
  assert.deepEqual(list({ items: { ...items, required: ['k'] }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }), []);
  assert.deepEqual(list({ items, 'x-kubernetes-list-type': 'set' }), [
    `${l}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
  ]);
});

test('what makes the name of a definition stays; scope and kind too once it is served', () => {
  const before = made();
  const after = { ...before, spec: { ...before.spec, group: 'other.com', scope: 'Cluster' } };
  assert.deepEqual(kind.validateUpdate(after, before).map(problemText), [
    'metadata.name: Invalid value: "tests.example.com": must be spec.names.plural+"."+spec.group',
    'spec.group: Invalid value: "other.com": field is immutable',
  ]);
  const served = { ...before, status: { ...before.status, conditions: [{ type: 'Established', status: 'True' }] } };
  const rescoped = { ...served, spec: { ...before.spec, scope: 'Cluster' } };
  assert.deepEqual(kind.validateUpdate(rescoped, served).map(problemText), ['spec.scope: Invalid value: "Cluster": field is immutable']);
});
