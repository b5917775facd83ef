import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { NodeRoomPort } from '../../ports/node-room.ts';
import { emptyState } from '../../runtime/pod-runtime-state.ts';
import { aSandbox, observedOf } from '../../runtime/testing/observed.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { admit } from './admit.ts';

function roomFor(pods: number): NodeRoomPort & { readonly held: Set<string> } {
  const held = new Set<string>();
  return {
    held,
    admit: async (pod, { sandboxes }) => {
      const { uid } = pod.metadata;
      const alreadyRuns = sandboxes.length > 0;
      if (!alreadyRuns && !held.has(uid) && held.size >= pods) return { admitted: false, reason: 'OutOfpods', message: 'full' };
      held.add(uid);
      return { admitted: true, pod };
    },
    holds: (uid) => held.has(uid),
    release: (uid) => void held.delete(uid),
  };
}
const { ref, signal } = new StepWorld();
const pod = aPod();

stepLaws('admit', () => {
  const room = roomFor(1);
  return { step: admit(room), pod: ref, facts: { pod, observed: emptyState(ref) }, world: () => [...room.held] };
});

test('a pod that does not fit is rejected with the words of the node', async () => {
  const outcome = await admit(roomFor(0)).run(ref, { pod, observed: emptyState(ref) }, signal);
  assert.deepEqual(outcome, { kind: 'reject', reason: 'OutOfpods', detail: 'full' });
});

test('a pod that already runs here is let in, whatever room there is', async () => {
  const outcome = await admit(roomFor(0)).run(ref, { pod, observed: observedOf([aSandbox()]) }, signal);
  assert.equal(outcome.kind, 'done');
});

test('a reason that has no documentation of its own is one of its kind, and users are told the word itself', async () => {
  const room: NodeRoomPort = { ...roomFor(0), admit: async () => ({ admitted: false, reason: 'OutOfexample.com/gpu', message: 'no gpu' }) };
  const outcome = await admit(room).run(ref, { pod, observed: emptyState(ref) }, signal);
  assert.deepEqual(outcome, { kind: 'reject', reason: 'OutOfExtendedResources', detail: 'no gpu', word: 'OutOfexample.com/gpu' });
});
