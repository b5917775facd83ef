import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { ResourceRequirements } from '#api/types/core-v1.ts';
import { computeQosClass, qosClass } from './qos.ts';

const full = { cpu: '1', memory: '1Gi' };

const table: readonly (readonly [name: string, containers: readonly ResourceRequirements[], expected: string])[] = [
  ['nothing asked', [{}], 'BestEffort'],
  ['zero asked', [{ requests: { cpu: '0' }, limits: { memory: '0' } }], 'BestEffort'],
  ['fractions of a byte that differ', [{ requests: { cpu: '1', memory: '100m' }, limits: { cpu: '1', memory: '200m' } }], 'Burstable'],
  ['only another resource', [{ requests: { 'ephemeral-storage': '1Gi' } }], 'BestEffort'],
  ['requests equal limits', [{ requests: full, limits: full }], 'Guaranteed'],
  ['requests equal limits, written differently', [{ requests: { cpu: '1000m', memory: '1024Mi' }, limits: full }], 'Guaranteed'],
  ['limit above request', [{ requests: { cpu: '500m', memory: '1Gi' }, limits: full }], 'Burstable'],
  ['sums that agree', [{ requests: { cpu: '2', memory: '2Gi' }, limits: full }, { limits: { cpu: '1', memory: '1Gi' } }], 'Guaranteed'],
  ['memory without a limit', [{ requests: full, limits: { cpu: '1' } }], 'Burstable'],
  ['one of two containers asks nothing', [{ requests: full, limits: full }, {}], 'Burstable'],
  ['limits without requests', [{ limits: full }], 'Burstable'],
];

for (const [name, resources, expected] of table) {
  test(`quality of service with ${name} is ${expected}`, () => {
    const containers = resources.map((one, index) => aContainer({ name: `c${index}`, resources: one }));
    assert.equal(computeQosClass(aPod({ spec: { containers } })), expected);
  });
}

test('an init container counts too', () => {
  const spec = { containers: [aContainer({ resources: { requests: full, limits: full } })], initContainers: [aContainer({ name: 'i' })] };
  assert.equal(computeQosClass(aPod({ spec })), 'Burstable');
});

test('pod-level resources alone decide', () => {
  assert.equal(computeQosClass(aPod({ spec: { resources: { requests: full, limits: full } } })), 'Guaranteed');
  const spec = { containers: [aContainer({ resources: { requests: full, limits: full } })], resources: {} };
  assert.equal(computeQosClass(aPod({ spec })), 'BestEffort');
});

test('the class in the status stays', () => {
  assert.equal(qosClass(aPod({ status: { qosClass: 'Guaranteed' } })), 'Guaranteed');
});
