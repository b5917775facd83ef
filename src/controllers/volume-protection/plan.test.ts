import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/types/core-v1.ts';
import { claimsOf, planClaim, planVolume, withFinalizer, withoutFinalizer } from './plan.ts';

function aClaim(metadata: object = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', uid: 'u', creationTimestamp: '', resourceVersion: '1', ...metadata },
  };
}

const going = aClaim({ deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['kubernetes.io/pvc-protection', 'x/y'] });

function aUser(pod: object = {}, spec: object = {}): Pod {
  return aPod({ ...pod, spec: { nodeName: 'node-1', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }], ...spec } });
}

test('a claim gets its finalizer, and loses it when it goes and nobody uses it', () => {
  assert.equal(planClaim(aClaim(), []), 'protect');
  assert.equal(planClaim(withFinalizer(aClaim(), 'kubernetes.io/pvc-protection'), []), 'nothing');
  assert.equal(planClaim(going, []), 'release');
  assert.deepEqual(withoutFinalizer(going, 'kubernetes.io/pvc-protection').metadata.finalizers, ['x/y']);
});

test('a pod of a node holds its claim, also when it is done; one without a node does not', () => {
  assert.equal(planClaim(going, [aUser()]), 'nothing');
  assert.equal(planClaim(going, [aUser({ status: { phase: 'Succeeded' } })]), 'nothing');
  assert.equal(planClaim(going, [aUser({}, { nodeName: '' })]), 'release');
  assert.equal(planClaim(going, [aUser({}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'other' } }] })]), 'release');
});

test('an ephemeral claim is held by the pod that owns it until that pod is shut down', () => {
  const own = aClaim({
    name: 'web-data',
    deletionTimestamp: '2030-01-01T00:00:00Z',
    finalizers: ['kubernetes.io/pvc-protection'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-of-web', controller: true }],
  });
  const volumes = [{ name: 'data', ephemeral: {} }];
  const pod = aUser({ metadata: { name: 'web', uid: 'uid-of-web' } }, { volumes });
  assert.deepEqual(claimsOf(pod), ['web-data']);
  assert.equal(planClaim(own, [pod]), 'nothing');
  const shut = { name: 'web', uid: 'uid-of-web', deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  assert.equal(planClaim(own, [aUser({ metadata: shut }, { volumes })]), 'release');
  assert.equal(planClaim(own, [aUser({ metadata: { name: 'web', uid: 'another' } }, { volumes })]), 'release');
});

test('a bound volume stays', () => {
  const finalizers = ['kubernetes.io/pv-protection'];
  const metadata = { name: 'disk', uid: 'u', creationTimestamp: '', resourceVersion: '1' };
  const volume = (more: object, phase: string): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { ...metadata, ...more },
    status: { phase },
  });
  assert.equal(planVolume(volume({}, 'Available')), 'protect');
  assert.equal(planVolume(volume({ finalizers, deletionTimestamp: 'then' }, 'Bound')), 'nothing');
  assert.equal(planVolume(volume({ finalizers, deletionTimestamp: 'then' }, 'Released')), 'release');
});
