import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { EndpointSlice } from '#api/types/discovery-v1.ts';
import { endpointSlice as kind } from './endpoint-slice.ts';

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };
const slice = (fields: Partial<EndpointSlice>): EndpointSlice =>
  kind.setDefaults({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4', ...fields });
const problems = (fields: Partial<EndpointSlice>) => kind.validate(slice(fields)).map(problemText);
const one = { addresses: ['10.0.0.1'] };

test('ports of a slice have a name, be it empty, and a protocol', () => {
  assert.deepEqual(slice({ ports: [{ port: 80 }] }).ports, [{ name: '', port: 80, protocol: 'TCP' }]);
});

const refused: readonly (readonly [what: string, fields: Partial<EndpointSlice>, ...problems: readonly string[]])[] = [
  ['no type of addresses', { addressType: '' }, 'addressType: Required value'],
  ['an unknown type of addresses', { addressType: 'X' }, 'addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'],
  ['an endpoint without addresses', { endpoints: [{ addresses: [] }] }, 'endpoints[0].addresses: Required value: must contain at least 1 address'],
  [
    'an address of the other family',
    { endpoints: [{ addresses: ['fd00::1'] }] },
    'endpoints[0].addresses[0]: Invalid value: "fd00::1": must be an IPv4 address',
  ],
  [
    'a loopback address',
    { endpoints: [{ addresses: ['127.0.0.1'] }] },
    'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
  ['too many endpoints', { endpoints: Array.from({ length: 1001 }, () => one) }, 'endpoints: Too many: 1001: must have at most 1000 items'],
  ['a port name twice', { ports: [{ port: 1 }, { port: 2 }] }, 'ports[1].name: Duplicate value: ""'],
  [
    'a zone hint twice',
    { endpoints: [{ ...one, hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }] },
    'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
  ],
  [
    'a name of one segment',
    { addressType: 'FQDN', endpoints: [{ addresses: ['a'] }] },
    'endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots',
  ],
];
for (const [what, fields, ...texts] of refused) {
  test(`a slice may not have ${what}`, () => assert.deepEqual(problems(fields), texts));
}

test('a slice keeps its type of addresses, and addresses of old', () => {
  const before = slice({ endpoints: [{ addresses: ['010.0.0.1'] }] });
  assert.deepEqual(kind.validateUpdate(before, before), []);
  assert.deepEqual(kind.validateUpdate(slice({ addressType: 'IPv6' }), before).map(problemText), [
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test('the generation grows with the content and with labels', () => {
  const before = kind.prepareCreate(slice({ endpoints: [one] }));
  assert.equal(before.metadata.generation, 1);
  const after = (next: EndpointSlice) => kind.prepareUpdate(next, before).metadata.generation;
  assert.equal(after(slice({ endpoints: [one, { addresses: ['10.0.0.2'] }] })), 2);
  assert.equal(after({ ...slice({ endpoints: [one] }), metadata: { ...metadata, labels: { a: 'b' } } }), 2);
  assert.equal(after({ ...slice({ endpoints: [one] }), metadata: { ...metadata, annotations: { a: 'b' } } }), 1);
});

test('the topology of an older version is not taken', () => {
  const deprecatedTopology = { a: 'b' };
  assert.deepEqual(kind.prepareCreate(slice({ endpoints: [{ ...one, deprecatedTopology }] })).endpoints, [one]);
  const old = slice({ endpoints: [{ ...one, deprecatedTopology }] });
  assert.deepEqual(kind.prepareUpdate(old, old).endpoints, [{ ...one, deprecatedTopology }]);
  const changed = slice({ endpoints: [{ ...one, hostname: 'h', deprecatedTopology }] });
  assert.deepEqual(kind.prepareUpdate(changed, old).endpoints, [{ ...one, hostname: 'h' }]);
});

test('rows of slices show the first three of everything', () => {
  const row = (fields: Partial<EndpointSlice>) => kind.columns.map((column) => column.cell(slice(fields), Date.parse('2026-01-02T03:05:05Z')));
  assert.deepEqual(row({}), ['a', 'IPv4', '<unset>', '<unset>', '60s']);
  const addresses = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5'];
  const endpoints = addresses.map((address) => ({ addresses: [address] }));
  const ports = [{ name: 'a', port: 1 }, { name: 'b' }, {}, { name: 'd', port: 4 }];
  assert.deepEqual(row({ endpoints, ports }).slice(2, 4), ['1,b,* + 1 more...', '1.1.1.1,1.1.1.2,1.1.1.3 + 2 more...']);
});

test('an address that is not written in the usual way, and a name instead of one, are told', () => {
  const odd = { addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1'] }] };
  const warning = 'endpoints[0].addresses[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")';
  assert.deepEqual(kind.warnings(slice(odd), undefined), [warning]);
  assert.deepEqual(kind.warnings(slice({ addressType: 'FQDN' }), undefined), ['addressType: FQDN endpoints are deprecated']);
  const labels = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };
  assert.deepEqual(kind.warnings(slice({ ...odd, metadata: { ...metadata, labels } }), undefined), []);
});
