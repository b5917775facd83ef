import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '#api/types/core-v1.ts';
import { statusPatch } from './status-patch.ts';

const patchOf = (known: PodStatus | undefined, wanted: PodStatus) => statusPatch('u1', known, wanted)?.status;

test('nothing that differs, nothing to tell; what is empty is as good as absent', () => {
  const known: PodStatus = {
    phase: 'Running',
    containerStatuses: [{ name: 'a', ready: true, restartCount: 0, image: '', imageID: '', state: { running: {} } }],
  };
  const wanted: PodStatus = {
    ...known,
    containerStatuses: known.containerStatuses?.map((status) => ({ ...status, lastState: {} })),
  };
  assert.equal(patchOf(known, wanted), undefined);
});

test('only what differs is sent, with the uid as a condition', () => {
  assert.deepEqual(statusPatch('u1', { phase: 'Pending', hostIP: '1.1.1.1' }, { phase: 'Running', hostIP: '1.1.1.1', observedGeneration: 2 }), {
    metadata: { uid: 'u1' },
    status: { phase: 'Running', observedGeneration: 2 },
  });
});

test('a field that is wanted no more is removed, one of others is left alone', () => {
  assert.deepEqual(patchOf({ phase: 'Failed', reason: 'Evicted', nominatedNodeName: 'other' }, { phase: 'Failed' }), { reason: null });
});

test('addresses replace those that are there', () => {
  assert.deepEqual(patchOf({}, { podIPs: [{ ip: '10.0.0.2' }] }), { podIPs: [{ ip: '10.0.0.2' }] });
  assert.deepEqual(patchOf({ podIPs: [{ ip: '10.0.0.2' }] }, { podIPs: [{ ip: '10.0.0.3' }] }), {
    podIPs: [{ $patch: 'replace' }, { ip: '10.0.0.3' }],
  });
});

test('what the pod has replaces what it had', () => {
  const resources = { requests: { cpu: '1' } };
  assert.deepEqual(patchOf({}, { resources, allocatedResources: { cpu: '1' } }), { resources, allocatedResources: { cpu: '1' } });
  assert.deepEqual(patchOf({ resources: { ...resources, limits: { cpu: '2' } } }, { resources }), { resources: { $patch: 'replace', ...resources } });
  assert.equal(patchOf({ resources }, { resources }), undefined);
});

test('of the conditions those that changed, without what they no longer say; those of others are left alone', () => {
  const known = {
    conditions: [
      { type: 'Ready', status: 'False', reason: 'X', message: 'm' },
      { type: 'PodScheduled', status: 'True' },
      { type: 'theirs', status: 'True' },
    ],
  };
  const wanted = {
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: 't' },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: 'other' },
    ],
  };
  assert.deepEqual(patchOf(known, wanted), { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 't', reason: null, message: null }] });
});

test('a generation that is observed is told by itself, of the conditions too, and never goes back', () => {
  const ready = { type: 'Ready', status: 'True' };
  const at = (generation: number) => ({ observedGeneration: generation, conditions: [{ ...ready, observedGeneration: generation }] });
  assert.deepEqual(patchOf(at(6), at(7)), at(7));
  assert.equal(patchOf(at(7), at(7)), undefined);
  assert.equal(patchOf(at(8), at(7)), undefined);
  assert.equal(patchOf({ ...at(7), conditions: [ready] }, at(7)), undefined);
});

test('a condition that is there only while it is true is taken back', () => {
  const known = {
    conditions: [
      { type: 'PodResizePending', status: 'True' },
      { type: 'theirs', status: 'True' },
    ],
  };
  assert.deepEqual(patchOf(known, { conditions: [] }), { conditions: [{ type: 'PodResizePending', $patch: 'delete' }] });
});
