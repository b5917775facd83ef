import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPAddress, ServiceCIDR } from '#api/types/networking-v1.ts';
import { planServiceCidr, SERVICE_CIDR_FINALIZER } from './plan.ts';

const nowMs = Date.parse('2030-01-01T00:01:00Z');
const finalizers = [SERVICE_CIDR_FINALIZER];
const deletionTimestamp = '2030-01-01T00:00:55Z';

interface CidrParts {
  readonly metadata?: object;
  readonly ready?: string;
}

function aCidr(name: string, cidr: string, { metadata = {}, ready }: CidrParts = {}): ServiceCIDR {
  const lastTransitionTime = '2030-01-01T00:00:00Z';
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: lastTransitionTime, ...metadata },
    spec: { cidrs: [cidr] },
    status: ready === undefined ? {} : { conditions: [{ type: 'Ready', status: ready, reason: '', message: '', lastTransitionTime }] },
  };
}

function anAddress(name: string, manager = 'ipallocator.k8s.io'): IPAddress {
  const labels = { 'ipaddress.kubernetes.io/managed-by': manager };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z', labels },
    spec: { parentRef: { resource: 'services', name: 'a' } },
  };
}

const plan = (cidr: ServiceCIDR, others: readonly ServiceCIDR[] = [], addresses: readonly IPAddress[] = []) =>
  planServiceCidr(cidr, { cidrs: [cidr, ...others], addresses, nowMs, graceMs: 10_000 });

test('a range is protected first, then ready, then left alone', () => {
  assert.deepEqual(plan(aCidr('a', '10.0.0.0/24')), { kind: 'protect' });
  const said = plan(aCidr('a', '10.0.0.0/24', { metadata: { finalizers } }));
  assert.deepEqual(said.kind === 'say' && [said.condition.status, said.condition.message], ['True', 'Kubernetes Service CIDR is ready']);
  assert.deepEqual(plan(aCidr('a', '10.0.0.0/24', { metadata: { finalizers }, ready: 'True' })), { kind: 'nothing' });
});

test('a deleted range stays as long as an address has no other', () => {
  const going = aCidr('a', '10.0.0.0/24', { metadata: { finalizers, deletionTimestamp }, ready: 'True' });
  const used = plan(going, [], [anAddress('10.0.0.5')]);
  assert.deepEqual(used.kind === 'say' && [used.condition.status, used.condition.reason], ['False', 'Terminating']);
  const told = aCidr('a', '10.0.0.0/24', { metadata: { finalizers, deletionTimestamp }, ready: 'False' });
  assert.deepEqual(plan(told, [], [anAddress('10.0.0.5')]), { kind: 'nothing' });
  assert.deepEqual(plan(told, [aCidr('b', '10.0.0.0/16')], [anAddress('10.0.0.5')]), { kind: 'wait', ms: 5000 });
  const alsoGoing = aCidr('b', '10.0.0.0/16', { metadata: { deletionTimestamp } });
  assert.deepEqual(plan(told, [alsoGoing], [anAddress('10.0.0.5')]), { kind: 'nothing' });
  assert.deepEqual(plan(told, [], [anAddress('10.0.1.5'), anAddress('10.0.0.6', 'user')]), { kind: 'wait', ms: 5000 });
});

test('ten seconds after its deletion a range that nobody needs goes', () => {
  const metadata = { finalizers: [...finalizers, 'other'], deletionTimestamp: '2030-01-01T00:00:50Z' };
  assert.deepEqual(plan(aCidr('a', '10.0.0.0/24', { metadata })), { kind: 'release' });
  assert.deepEqual(plan(aCidr('a', '10.0.0.0/24', { metadata: { ...metadata, finalizers: ['other'] } })), { kind: 'nothing' });
});
