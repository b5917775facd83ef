import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodRef } from '../step.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { status } from './status.ts';

const { ref, signal } = new StepWorld();
const facts = { podIPs: [], initStates: {}, containerStates: {} };

stepLaws('status', () => ({ step: status({ changed: () => undefined }), pod: ref, facts }));

test('the state is handed over at once', async () => {
  const told: unknown[] = [];
  await status({ changed: (pod: PodRef, urgency) => told.push([pod.name, urgency]) }).run(ref, facts, signal);
  assert.deepEqual(told, [['web', 'now']]);
});
