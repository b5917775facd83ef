import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const nodes = '/api/v1/nodes';
const yaml = { 'content-type': 'application/yaml' };
const post = async (api: InProcessServer, body: unknown, query = '', headers = {}, url = nodes) => {
  const answer = await api.call('POST', `${url}${query}`, { body, headers });
  return [answer.status, answer.body.message ?? answer.body.metadata.name];
};
const warningsOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => headers['warning'];

test('given an unknown field, then Strict refuses it, Warn tells and takes, Ignore only takes', async () => {
  await using api = await inProcessServer();
  const body = { metadata: { name: 'a' }, spec: { x: 1, taints: [{ key: 'a', effect: 'NoSchedule', y: 2 }] }, z: null };
  assert.deepEqual(await post(api, body, '?fieldValidation=Strict'), [
    400,
    'Node in version "v1" cannot be handled as a Node: strict decoding error: unknown field "spec.x", unknown field "spec.taints[0].y", unknown field "z"',
  ]);
  const warned = await api.call('POST', `${nodes}?dryRun=All`, { body });
  const expected = ['spec.x', 'spec.taints[0].y', 'z'].map((field) => `299 - "unknown field \\"${field}\\""`);
  assert.deepEqual([warned.status, warningsOf(warned)], [201, expected.join(', ')]);
  const ignored = await api.call('POST', `${nodes}?fieldValidation=Ignore`, { body });
  assert.deepEqual([ignored.status, warningsOf(ignored), ignored.body.spec.taints[0]], [201, undefined, { key: 'a', effect: 'NoSchedule' }]);
});

test('given a field name in another case, then it is unknown', async () => {
  await using api = await inProcessServer();
  const [status, message] = await post(api, { metadata: { name: 'a' }, Spec: {} }, '?fieldValidation=Strict');
  assert.deepEqual([status, /strict decoding error: unknown field "Spec"$/.test(message)], [400, true]);
});

test('given a key that stands twice in JSON, then it is a duplicate field, in the order of the body', async () => {
  await using api = await inProcessServer();
  const body =
    '{"metadata":{"name":"a","labels":{"x":"1","x":"2"}},"spec":{"foo":{"a":1,"a":2},"unschedulable":true,"unschedulable":true},"bar":1,"bar":2}';
  const complaints = [
    'duplicate field "metadata.labels.x"',
    'unknown field "spec.foo"',
    'duplicate field "spec.unschedulable"',
    'unknown field "bar"',
  ];
  assert.deepEqual(await post(api, body, '?fieldValidation=Strict'), [
    400,
    `Node in version "v1" cannot be handled as a Node: strict decoding error: ${complaints.join(', ')}`,
  ]);
  const warned = await api.call('POST', nodes, { body });
  assert.deepEqual(warningsOf(warned), complaints.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(', '));
  assert.deepEqual(warned.body.metadata.labels.x, '2');
  const again = `{"metadata":{"name":"a"},"spec":{"unschedulable":true,"unschedulable":false}}`;
  const updated = await api.call('PUT', `${nodes}/a?fieldValidation=Strict`, { body: again });
  assert.deepEqual([updated.status, /strict decoding error: duplicate field "spec.unschedulable"$/.test(updated.body.message)], [400, true]);
});

test('given a key that stands twice in YAML, then its line is told; unknown fields come by name', async () => {
  await using api = await inProcessServer();
  const body = 'apiVersion: v1\nkind: ConfigMap\nzebra: 1\nmetadata:\n  name: a\n  name: b\n  extra: 1\ndata:\n  foo: "1"\n  foo: "2"\n';
  assert.deepEqual(await post(api, body, '?fieldValidation=Strict', yaml, maps), [
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n' +
      '  line 6: key "name" already set in map\n  line 10: key "foo" already set in map, unknown field "metadata.extra", unknown field "zebra"',
  ]);
  const warned = await api.call('POST', maps, { body, headers: yaml });
  const warnings = [
    'line 6: key \\"name\\" already set in map',
    'line 10: key \\"foo\\" already set in map',
    'unknown field \\"metadata.extra\\"',
    'unknown field \\"zebra\\"',
  ];
  assert.deepEqual([warned.status, warningsOf(warned)], [201, warnings.map((text) => `299 - "${text}"`).join(', ')]);
});

test('given a body that cannot be read, then the answer says why and shows its begin', async () => {
  await using api = await inProcessServer();
  const unrecognized = "the object provided is unrecognized (must be of type Node): couldn't get version/kind; json parse error";
  assert.deepEqual(await post(api, '{"metadata":'), [400, `${unrecognized}: unexpected end of JSON input ({"metadata":)`]);
  assert.deepEqual(await post(api, `{"metadata": x${' '.repeat(30)}`), [
    400,
    `${unrecognized}: invalid character 'x' looking for beginning of value ({"metadata": x                 ...)`,
  ]);
  assert.deepEqual(await post(api, ''), [400, `${unrecognized}: unexpected end of JSON input (<empty>)`]);
  assert.deepEqual(await post(api, 'hello'), [400, `${unrecognized}: invalid character 'h' looking for beginning of value (68656c6c6f)`]);
  const goType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  assert.deepEqual(await post(api, '[]'), [400, `${unrecognized}: json: cannot unmarshal array into Go value of type ${goType} (5b5d)`]);
  assert.deepEqual(await post(api, '{"kind":1}'), [
    400,
    `${unrecognized}: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`,
  ]);
  const [status, message] = await post(api, 'a: b: c', '', yaml);
  assert.deepEqual(
    [status, /^the object provided is unrecognized \(must be of type Node\): error converting YAML to JSON: yaml: line 1: /.test(message)],
    [400, true],
  );
  const protobuf = await post(api, 'k8', '', { 'content-type': 'application/vnd.kubernetes.protobuf' });
  assert.deepEqual(protobuf, [
    400,
    'the object provided is unrecognized (must be of type Node): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6b38)',
  ]);
});

test('given another kind, version or type of a value, then the answer names what cannot be handled', async () => {
  await using api = await inProcessServer();
  assert.deepEqual(await post(api, { kind: 'Foo', apiVersion: 'v1' }), [
    400,
    'Foo in version "v1" cannot be handled as a Node: no kind "Foo" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ]);
  assert.deepEqual(await post(api, { kind: 'Node', apiVersion: 'v2' }), [
    400,
    'the API version in the data (v2) does not match the expected API version (v1)',
  ]);
  assert.deepEqual(await post(api, { metadata: { name: 'a' }, spec: { unschedulable: 'x' } }), [
    400,
    'Node in version "v1" cannot be handled as a Node: json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool',
  ]);
  assert.deepEqual(await post(api, null), [422, 'Node "" is invalid: metadata.name: Required value: name or generateName is required']);
});

test('given object JSON with `creationTimestamp: null` and fields that are null, then it is taken', async () => {
  await using api = await inProcessServer();
  const body = { metadata: { name: 'a', creationTimestamp: null, labels: null }, spec: null, status: { conditions: null } };
  assert.deepEqual(await post(api, body, '?fieldValidation=Strict'), [201, 'a']);
});

test('given values that are nested deeper than anything real, then 400', async () => {
  await using api = await inProcessServer();
  const [status, message] = await post(api, `{"metadata":{"name":"a"},"x":${'['.repeat(5000)}${']'.repeat(5000)}}`);
  assert.deepEqual([status, message.includes('json parse error: exceeded max depth')], [400, true]);
});

test('given bytes that are no UTF-8, then they are replaced as upstream does', async () => {
  await using api = await inProcessServer();
  const body = Buffer.concat([Buffer.from('{"metadata":{"name":"a","annotations":{"k":"'), Buffer.from([0xff]), Buffer.from('"}}}')]);
  const { body: created } = await api.call('POST', nodes, { body, headers: { 'content-type': 'application/json' } });
  assert.deepEqual(created.metadata.annotations, { k: '\ufffd' });
});
