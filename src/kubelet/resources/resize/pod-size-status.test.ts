import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { podSizeStatus } from './pod-size-status.ts';

test('the status tells what the containers have together, and the limits that hold for all of them', () => {
  const a = aContainer({ name: 'a', resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } } });
  const b = aContainer({ name: 'b', resources: { requests: { cpu: '150m' }, limits: { cpu: '500m' } } });
  const requests = { cpu: '250m', memory: '64Mi' };
  assert.deepEqual(podSizeStatus(aPod({ spec: { containers: [a, b] } }), undefined), {
    resources: { requests, limits: { cpu: '1500m' } },
    allocatedResources: requests,
  });
});

test('what the pod itself asks for comes first', () => {
  const own = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } };
  assert.deepEqual(podSizeStatus(aPod({ spec: { containers: [aContainer()], resources: own } }), undefined), {
    resources: own,
    allocatedResources: own.requests,
  });
  assert.deepEqual(podSizeStatus(aPod(), undefined), { resources: {} });
});

test('while a resize is under way the pod has what it had', () => {
  const before = { requests: { cpu: '1' }, limits: { cpu: '1' } };
  const next = aPod({ spec: { containers: [aContainer()], resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } } });
  assert.deepEqual(podSizeStatus(next, before), { resources: before, allocatedResources: { cpu: '2' } });
});
