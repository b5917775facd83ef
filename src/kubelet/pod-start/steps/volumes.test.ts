import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumesOutcome, VolumesPort } from '../../ports/volumes.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { volumes } from './volumes.ts';

const { ref, pod, signal } = new StepWorld();

function volumesOf(outcome: VolumesOutcome): VolumesPort & { readonly wishes: Set<string> } {
  const wishes = new Set<string>();
  return {
    wishes,
    ensure: async ({ metadata: { uid } }) => {
      wishes.add(uid);
      return outcome;
    },
    find: async () => [...wishes],
    release: async (uid) => void wishes.delete(uid),
    prepareSubPath: async () => '',
  };
}

stepLaws('volumes', () => {
  const port = volumesOf({ kind: 'mounted', volumes: new Map() });
  return { step: volumes(port), pod: ref, facts: { pod, podDir: '/p' }, world: () => [...port.wishes] };
});

test('what is missing holds the pod in the words of the volume manager', async () => {
  const wakeOn = [{ kind: 'object', ref: 'configmap/default/settings' }] as const;
  const missing = { kind: 'wait', reason: 'FailedMount', detail: 'configmap "settings" not found', wakeOn, atLatestMs: 500 } as const;
  assert.deepEqual(await volumes(volumesOf(missing)).run(ref, { pod, podDir: '/p' }, signal), missing);
});
