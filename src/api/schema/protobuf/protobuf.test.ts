import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { kinds } from '#api/kinds/index.ts';
import { aContainer, aLease, aNode, anEvent, aPod, aPriorityClass, aRuntimeClass, aSecret } from '#api/testing/objects.ts';
import { InvalidInput } from '#base/errors.ts';
import { schemaOf } from '../message-schema.ts';
import { decodeProtobuf } from './decode.ts';
import { encodeProtobuf } from './encode.ts';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

/** Another implementation, reading the same `.proto` files. */
const other = new protobuf.Root();
const protoDir = new URL('../../proto/', import.meta.url);
for (const file of readdirSync(protoDir)) protobuf.parse(readFileSync(new URL(file, protoDir), 'utf8'), other, { keepCase: true });
other.resolveAll();

const withoutTypeMeta = (object: object) => Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'apiVersion' && key !== 'kind'));
const podSchema = schemaOf('core.v1.Pod');
const richPod = aPod({
  metadata: {
    labels: { b: '2', a: '1' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true }],
    managedFields: [{ manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }],
  },
  spec: {
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsUser: 0, supplementalGroups: [1, 2] },
    volumes: [{ name: 'v', configMap: { name: 'm', items: [{ key: 'k', path: 'p' }], defaultMode: 420 } }],
    containers: [
      aContainer({
        resources: { requests: { cpu: '250m', memory: '1Gi' } },
        livenessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, periodSeconds: 5 },
        readinessProbe: { tcpSocket: { port: 80 } },
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: false } } }],
      }),
    ],
  },
  status: { phase: 'Running', containerStatuses: [{ name: 'main', ready: false, restartCount: 0, image: 'i', imageID: '', state: { running: {} } }] },
});

test('an object survives the way there and back', () => {
  for (const [name, object] of [
    ['core.v1.Pod', richPod],
    ['core.v1.Node', aNode()],
    ['core.v1.Secret', aSecret()],
    ['core.v1.Event', anEvent({ series: { count: 2, lastObservedTime: '2026-01-02T03:04:05.123456Z' } })],
    ['coordination.v1.Lease', aLease()],
    ['scheduling.v1.PriorityClass', aPriorityClass()],
    ['node.v1.RuntimeClass', aRuntimeClass()],
  ] as const) {
    const schema = schemaOf(name);
    const plain = { ...withoutTypeMeta(object) };
    assert.deepEqual(decodeProtobuf(schema, encodeProtobuf(schema, plain)), { ...plain });
  }
});

test('another implementation reads what is written here', () => {
  const decoded = other
    .lookupType('k8s.core.v1.Pod')
    .decode(encodeProtobuf(podSchema, withoutTypeMeta(richPod)))
    .toJSON();
  assert.equal(decoded['metadata']?.name, 'web');
  assert.deepEqual(decoded['metadata']?.labels, { a: '1', b: '2' });
  const [container] = decoded['spec'].containers;
  assert.deepEqual(container.resources.requests, { cpu: { string: '250m' }, memory: { string: '1Gi' } });
  assert.deepEqual(container.livenessProbe.handler.httpGet.port, { type: '1', intVal: 0, strVal: 'http' });
  assert.deepEqual(container.readinessProbe.handler.tcpSocket.port, { type: '0', intVal: 80, strVal: '' });
  assert.deepEqual(decoded['metadata'].creationTimestamp, { seconds: '1767323045', nanos: 0 });
});

test('what Go writes because it must is left out, what it means is kept', () => {
  const bytes = other.lookupType('k8s.core.v1.Pod').encode(
    other.lookupType('k8s.core.v1.Pod').fromObject({
      metadata: { name: 'web', namespace: '', uid: '', creationTimestamp: {} },
      spec: {
        nodeName: '',
        hostNetwork: false,
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsUser: 0, runAsNonRoot: false },
        containers: [{ name: 'a', image: '', tty: false, resources: {} }],
      },
      status: {},
    }),
  );
  assert.deepEqual(decodeProtobuf(podSchema, bytes.finish()), {
    metadata: { name: 'web' },
    spec: {
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsUser: 0, runAsNonRoot: false },
      containers: [{ name: 'a', resources: {} }],
    },
    status: {},
  });
});

test('a lease that never changed hands says so', () => {
  const lease = { metadata: { name: 'a' }, spec: { holderIdentity: '', leaseTransitions: 0 } };
  assert.deepEqual(decodeProtobuf(schemaOf('coordination.v1.Lease'), encodeProtobuf(schemaOf('coordination.v1.Lease'), lease)), lease);
});

test('an envelope says what is in it', () => {
  const raw = new Uint8Array([1, 2, 3]);
  const envelope = { apiVersion: 'v1', kind: 'Pod', raw, contentType: '' };
  assert.deepEqual(decodeEnvelope(encodeEnvelope(envelope)), envelope);
  assert.throws(() => decodeEnvelope(new TextEncoder().encode('{"kind":"Pod"}')), InvalidInput);
  assert.throws(() => decodeEnvelope(new Uint8Array([0x6b, 0x38, 0x73, 0, 0x0a, 0xff])), InvalidInput);
});

test('any bytes are decoded or refused', () => {
  const schemas = kinds.map((kind) => kind.schema);
  fc.assert(
    fc.property(fc.constantFrom(...schemas), fc.uint8Array({ maxLength: 60 }), (schema, bytes) => {
      try {
        decodeProtobuf(schema, bytes);
      } catch (error) {
        assert.ok(error instanceof InvalidInput, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('damaged messages are decoded or refused', () => {
  const good = encodeProtobuf(podSchema, withoutTypeMeta(richPod));
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      try {
        decodeProtobuf(podSchema, good.with(at, byte));
      } catch (error) {
        assert.ok(error instanceof InvalidInput, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});

test('durations are written as Go writes them', () => {
  for (const [nanos, text] of [
    [0n, '0s'],
    [1n, '1ns'],
    [1500n, '1.5µs'],
    [20_000_000n, '20ms'],
    [1_500_000_000n, '1.5s'],
    [60_000_000_000n, '1m0s'],
    [3_661_000_000_000n, '1h1m1s'],
    [-5_000_000_000n, '-5s'],
  ] as const) {
    assert.equal(formatGoDuration(nanos), text);
    assert.equal(parseGoDuration(text), nanos);
  }
  assert.equal(parseGoDuration('1h30m'), 5_400_000_000_000n);
  assert.throws(() => parseGoDuration('5'), InvalidInput);
});

test('any duration survives printing', () => {
  fc.assert(fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanos) => assert.equal(parseGoDuration(formatGoDuration(nanos)), nanos)));
});
