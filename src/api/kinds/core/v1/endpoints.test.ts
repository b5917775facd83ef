import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { EndpointSubset, Endpoints } from '#api/types/core-v1.ts';
import { endpoints as kind } from './endpoints.ts';

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };
const endpoints = (...subsets: readonly EndpointSubset[]): Endpoints => kind.setDefaults({ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets });
const problems = (...subsets: readonly EndpointSubset[]) => kind.validate(endpoints(...subsets)).map(problemText);
const addresses = [{ ip: '10.0.0.1' }];

test('ports of Endpoints are of TCP unless they say otherwise', () => {
  assert.deepEqual(endpoints({ addresses, ports: [{ port: 80 }] }).subsets?.[0]?.ports, [{ port: 80, protocol: 'TCP' }]);
});

test('a subset has addresses that lead somewhere, and ports with names when there are several', () => {
  assert.deepEqual(problems({ addresses, ports: [{ port: 80 }] }), []);
  assert.deepEqual(problems({}), ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']);
  assert.deepEqual(problems({ notReadyAddresses: [{ ip: '127.0.0.1' }] }), [
    'subsets[0].notReadyAddresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ]);
  assert.deepEqual(problems({ addresses: [{ ip: '169.254.1.1' }] }), [
    'subsets[0].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ]);
  assert.deepEqual(problems({ addresses, ports: [{ port: 0 }, { name: 'b', port: 2, protocol: 'X' }] }), [
    'subsets[0].ports[0].name: Required value',
    'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ]);
});

test('subsets of old are not judged again', () => {
  const before = endpoints({ addresses: [{ ip: '127.0.0.1' }] });
  assert.deepEqual(kind.validateUpdate({ ...before, metadata: { ...metadata, labels: { a: 'b' } } }, before), []);
});

test('rows of Endpoints show the first three', () => {
  const cell = (...subsets: readonly EndpointSubset[]) => kind.columns[1]?.cell(endpoints(...subsets), 0);
  assert.equal(cell(), '<none>');
  assert.equal(cell({ addresses }), '10.0.0.1');
  const several = [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }];
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ];
  assert.equal(cell({ addresses: several, ports }), '10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...');
});

test('an address that is not written in the usual way is told', () => {
  const odd = endpoints({ notReadyAddresses: [{ ip: 'FD00::1' }] });
  const warning = 'subsets[0].notReadyAddresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")';
  assert.deepEqual([kind.warnings(odd, undefined), kind.warnings(odd, odd)], [[warning], []]);
  const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
  assert.deepEqual(kind.warnings({ ...odd, metadata: { ...metadata, labels } }, undefined), []);
});
