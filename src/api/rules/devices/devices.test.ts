import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { deviceClass } from '#api/kinds/resource/v1/device-class.ts';
import { resourceClaim } from '#api/kinds/resource/v1/resource-claim.ts';
import { resourceClaimTemplate } from '#api/kinds/resource/v1/resource-claim-template.ts';
import { resourceSlice } from '#api/kinds/resource/v1/resource-slice.ts';
import type { KubeObject } from '#api/object.ts';
import type { ResourceClaim } from '#api/types/resource-v1.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
function made<T extends KubeObject>(kind: Kind<T>, parts: object): T {
  const place = kind.scope === 'Namespaced' ? { ...metadata, namespace: 'default' } : metadata;
  return kind.setDefaults({ apiVersion: 'v1', kind: kind.kind, metadata: place, ...parts } as unknown as T); // the parts are those of a T
}
const problemsOf = <T extends KubeObject>(kind: Kind<T>, spec: object) => kind.validate(made(kind, { spec })).map(problemText);

const request = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } };
const ofRequests = (...requests: readonly object[]) => problemsOf(resourceClaim, { devices: { requests } });

test('a claim asks for one device when it does not say how many', () => {
  const toleration = { key: 'a', value: 'b' };
  const spec = { devices: { requests: [{ ...request, exactly: { ...request.exactly, tolerations: [toleration] } }] } };
  const amount = { deviceClassName: 'gpu.example.com', allocationMode: 'ExactCount', count: 1, tolerations: [{ ...toleration, operator: 'Equal' }] };
  assert.deepEqual(made(resourceClaim, { spec }).spec.devices?.requests?.[0]?.exactly, amount);
  assert.deepEqual(made(resourceClaimTemplate, { spec: { spec } }).spec.spec.devices?.requests?.[0]?.exactly, amount);
  assert.deepEqual(ofRequests(request), []);
});

test('requests are of one kind or of alternatives, and told apart by their names', () => {
  const firstAvailable = [{ name: 'big', deviceClassName: 'x' }];
  assert.deepEqual(ofRequests(request, request, { name: 'none' }, { ...request, name: 'both', firstAvailable }), [
    'spec.devices.requests[2]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    'spec.devices.requests[3]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
    'spec.devices.requests[1]: Duplicate value: "gpu"',
  ]);
  const odd = { selectors: [{}, { cel: { expression: '' } }], allocationMode: 'All', count: 2, tolerations: [{ operator: 'Odd' }] };
  assert.deepEqual(ofRequests({ name: 'gpu', exactly: odd }), [
    'spec.devices.requests[0].exactly.deviceClassName: Required value',
    'spec.devices.requests[0].exactly.selectors[0].cel: Required value',
    'spec.devices.requests[0].exactly.selectors[1].cel.expression: Required value',
    `spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`,
    'spec.devices.requests[0].exactly.tolerations[0].key: Required value: operator must be `Exists` when `key` is empty',
    'spec.devices.requests[0].exactly.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
  ]);
  const constraints = [{ requests: ['gpu/big'], matchAttribute: 'bare' }, {}];
  assert.deepEqual(problemsOf(resourceClaim, { devices: { requests: [request], constraints, config: [{}] } }), [
    `spec.devices.constraints[0].requests[0]: Invalid value: "gpu/big": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
    'spec.devices.constraints[0].matchAttribute: Invalid value: "bare": must include a domain',
    'spec.devices.constraints[1]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    'spec.devices.config[0].opaque: Required value',
  ]);
});

test('a claim stays as it is, and what was allocated to it until it is given back', () => {
  const claim = (status: object, more: object = {}): ResourceClaim =>
    made(resourceClaim, { spec: { devices: { requests: [request] } }, status, ...more });
  assert.deepEqual(resourceClaim.validateUpdate(claim({}, { spec: {} }), claim({})).map(problemText), [
    'spec: Invalid value: {}: field is immutable',
  ]);
  const consumer = { resource: 'pods', name: 'p', uid: 'u' };
  const result = { request: 'gpu', driver: 'gpu.example.com', pool: 'node-1', device: 'gpu-0' };
  const allocation = { devices: { results: [result] } };
  const update = (next: object, previous: object) => resourceClaim.validateStatusUpdate(claim(next), claim(previous)).map(problemText);
  assert.deepEqual(update({ allocation, reservedFor: [consumer] }, {}), []);
  assert.deepEqual(update({ reservedFor: [consumer, { resource: '', name: '', uid: 'u' }] }, {}), [
    'status.reservedFor[1].resource: Required value',
    'status.reservedFor[1].name: Required value',
    'status.reservedFor[1]: Duplicate value: "u"',
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  ]);
  const other = { devices: { results: [{ ...result, device: 'gpu-1' }] } };
  assert.match(update({ allocation: other }, { allocation })[0] ?? '', /^status\.allocation: Invalid value: \{.*\}: field is immutable$/);
  assert.deepEqual(update({ allocation: { devices: { results: [{ ...result, request: 'cpu', pool: '' }] } } }, {}), [
    `status.allocation.devices.results[0].request: Invalid value: "cpu": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
    'status.allocation.devices.results[0].pool: Required value',
  ]);
  const shown = (status: object) => resourceClaim.columns.find(({ name }) => name === 'State')?.cell(claim(status), 0);
  assert.deepEqual([{}, { allocation }, { allocation, reservedFor: [consumer] }].map(shown), ['pending', 'allocated', 'allocated,reserved']);
});

const slice = { driver: 'gpu.example.com', pool: { name: 'node-1', generation: 0, resourceSliceCount: 1 }, nodeName: 'node-1' };

test('a slice is of one driver and pool, for nodes that are named in one way', () => {
  const ofSlice = (changes: object) => problemsOf(resourceSlice, { ...slice, ...changes });
  assert.deepEqual(ofSlice({ devices: [{ name: 'gpu-0', attributes: { model: { string: 'x' } }, capacity: { memory: { value: '8Gi' } } }] }), []);
  assert.deepEqual(
    ofSlice({ driver: undefined, nodeName: undefined, pool: { name: '' } }).filter((text) => !text.includes('RFC 1123')),
    [
      'spec.driver: Required value',
      'spec.pool.name: Required value',
      'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
    ],
  );
  assert.deepEqual(ofSlice({ allNodes: true }), [
    'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
  ]);
  const device = { name: 'gpu-0', attributes: { a: {}, v: { version: '1.0' } }, taints: [{ key: 'k', effect: 'Odd' }], nodeName: 'n' };
  assert.deepEqual(ofSlice({ devices: [device] }), [
    'spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified',
    'spec.devices[0].attributes[v].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0',
    'spec.devices[0].taints[0].effect: Unsupported value: "Odd": supported values: "NoExecute", "NoSchedule", "None"',
    'spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
  ]);
  const moved = { ...slice, driver: 'other.example.com', nodeName: 'node-2' };
  assert.deepEqual(resourceSlice.validateUpdate(made(resourceSlice, { spec: moved }), made(resourceSlice, { spec: slice })).map(problemText), [
    'spec.driver: Invalid value: "other.example.com": field is immutable',
    'spec.nodeName: Invalid value: "node-2": field is immutable',
  ]);
});

test('a class may stand for a resource of somebody else', () => {
  const ofName = (extendedResourceName: string) => problemsOf(deviceClass, { extendedResourceName });
  assert.deepEqual(ofName('example.com/gpu'), []);
  for (const name of ['cpu', 'kubernetes.io/gpu', 'requests.example.com/gpu']) {
    assert.deepEqual(ofName(name), [`spec.extendedResourceName: Invalid value: "${name}": must be a valid extended resource name`]);
  }
});
