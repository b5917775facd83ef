import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aNode, aPod } from '#api/testing/objects.ts';
import { InvalidInput } from '#base/errors.ts';
import { decodeJson } from './decode-json.ts';
import { schemaOf } from './message-schema.ts';

const podSchema = schemaOf('core.v1.Pod');
const decode = (value: unknown) => decodeJson(podSchema, value);
const decodeSpec = (spec: unknown) => decode({ metadata: {}, spec }).object['spec'];

test('an object that is right stays as it is', () => {
  for (const [schema, object] of [
    [podSchema, aPod()],
    [schemaOf('core.v1.Node'), aNode()],
  ] as const) {
    assert.deepEqual(decodeJson(schema, object), { object, unknownFields: [] });
  }
});

test('unknown fields are dropped and named', () => {
  const decoded = decode({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { a: 'b' }, nick: 1 },
    spec: { containers: [{ name: 'a', imge: 'x', kind: 'y' }], foo: {} },
    extra: true,
  });
  assert.deepEqual(decoded.object, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { a: 'b' } },
    spec: { containers: [{ name: 'a' }] },
  });
  assert.deepEqual(decoded.unknownFields, ['metadata.nick', 'spec.containers[0].imge', 'spec.containers[0].kind', 'spec.foo', 'extra']);
});

test('null is absent in an object, and the zero value in a map or list', () => {
  const { object } = decode({ metadata: { creationTimestamp: null, labels: { a: null } }, spec: { containers: null, volumes: [null] } });
  assert.deepEqual(object, { metadata: { labels: { a: '' } }, spec: { volumes: [{}] } });
});

test('an object without metadata gets an empty one', () => assert.deepEqual(decode({}).object, { metadata: {} }));

test('inlined messages are read from the parent', () => {
  const volume = { name: 'v', configMap: { name: 'settings', items: [{ key: 'k', path: 'p' }] } };
  const probe = { httpGet: { port: 'http' }, periodSeconds: 5 };
  assert.deepEqual(decodeSpec({ volumes: [volume], containers: [{ name: 'a', livenessProbe: probe }] }), {
    volumes: [volume],
    containers: [{ name: 'a', livenessProbe: probe }],
  });
});

test('quantities and times become canonical', () => {
  assert.deepEqual(decodeSpec({ overhead: { cpu: 0.5, memory: '1024Mi' } }), { overhead: { cpu: '500m', memory: '1Gi' } });
  assert.deepEqual(decode({ metadata: { creationTimestamp: '2026-01-02T05:04:05.678+02:00' } }).object['metadata'], {
    creationTimestamp: '2026-01-02T03:04:05Z',
  });
  const lease = decodeJson(schemaOf('coordination.v1.Lease'), { metadata: {}, spec: { renewTime: '2026-01-02T03:04:05.1234567Z' } });
  assert.deepEqual(lease.object['spec'], { renewTime: '2026-01-02T03:04:05.123456Z' });
});

for (const [spec, message] of [
  [{ containers: 'x' }, 'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container'],
  [{ containers: [{ name: 1 }] }, 'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string'],
  [
    { terminationGracePeriodSeconds: '1' },
    'json: cannot unmarshal string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64',
  ],
  [{ priority: 3_000_000_000 }, 'json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of type int32'],
  [{ priority: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32'],
  [{ hostNetwork: 'yes' }, 'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool'],
  [{ securityContext: [] }, 'json: cannot unmarshal array into Go struct field PodSpec.spec.securityContext of type v1.PodSecurityContext'],
  [{ nodeSelector: { a: true } }, 'json: cannot unmarshal bool into Go struct field PodSpec.spec.nodeSelector of type string'],
  [{ overhead: { cpu: 'x' } }, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
] as const) {
  test(`a wrong type is refused: ${message}`, () => assert.throws(() => decodeSpec(spec), { message }));
}

test('bytes must be base64', () => {
  const secret = schemaOf('core.v1.Secret');
  assert.deepEqual(decodeJson(secret, { data: { a: 'YWI=' } }).object['data'], { a: 'YWI=' });
  assert.throws(() => decodeJson(secret, { data: { a: 'YW!=' } }), { message: 'illegal base64 data at input byte 2' });
});

test('a key named __proto__ is a key like any other', () => {
  const body: unknown = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}},"__proto__":{"polluted":true}}');
  const { object, unknownFields } = decode(body);
  assert.equal(JSON.stringify(object), '{"metadata":{"labels":{"__proto__":"x"}}}');
  assert.deepEqual(unknownFields, ['__proto__']);
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
});

test('a body without end is refused instead of exhausting the stack', () => {
  const body: unknown = JSON.parse(`${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}`);
  assert.throws(() => decodeJson(schemaOf('apiextensions.v1.JSONSchemaProps'), body), InvalidInput);
});

test('any JSON is decoded or refused, and decoding twice changes nothing', () => {
  const keys = fc.constantFrom('metadata', 'spec', 'containers', 'name', 'labels', 'volumes', 'overhead', 'cpu', 'emptyDir', 'x');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, fc.constantFrom(null, true, 1, 1.5, 'a', '1Gi'), fc.array(tie('value'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
  }));
  fc.assert(
    fc.property(value, (body) => {
      try {
        const { object } = decode(body);
        assert.deepEqual(decode(object), { object, unknownFields: [] });
      } catch (error) {
        assert.ok(error instanceof InvalidInput, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});

test('empty lists and maps are left out, what must be there and empty objects are kept', () => {
  const pod = {
    metadata: { name: 'a', labels: {}, finalizers: [], managedFields: [] },
    spec: { containers: [], nodeSelector: {}, securityContext: {}, volumes: [{ name: 'v', emptyDir: {} }] },
  };
  assert.deepEqual(decodeJson(schemaOf('core.v1.Pod'), pod).object, {
    metadata: { name: 'a', managedFields: [] },
    spec: { containers: [], securityContext: {}, volumes: [{ name: 'v', emptyDir: {} }] },
  });
});
