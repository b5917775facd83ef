import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepState } from '#startup/transition.ts';
import { StartTroubles } from './start-troubles.ts';

function tell(troubles: StartTroubles, step: string, state: StepState, direction: 'start' | 'stop' = 'start'): void {
  troubles.observe({ podUid: 'u', namespace: 'default', name: 'web', step, direction, state, atMs: 0, tookMs: 0, calls: [] });
}

test('the step that a pod hangs at is remembered until it is done', () => {
  const troubles = new StartTroubles();
  tell(troubles, 'volumes', { kind: 'waiting', reason: 'FailedMount', detail: 'no such file', wakeOn: [], atLatestMs: 1 });
  tell(troubles, 'admit', { kind: 'done' });
  tell(troubles, 'volumes', { kind: 'started' });
  assert.deepEqual(troubles.get('u'), { reason: 'FailedMount', message: 'no such file' });
  tell(troubles, 'volumes', { kind: 'done' });
  assert.equal(troubles.get('u'), undefined);
});

test('a failure is told by its code, and nothing of a pod that stops', () => {
  const troubles = new StartTroubles();
  tell(troubles, 'sandbox', { kind: 'failed', code: 'CNI_FAILED', detail: 'no plugin' });
  assert.deepEqual(troubles.get('u'), { reason: 'CniFailed', message: 'no plugin' });
  tell(troubles, 'sandbox', { kind: 'started' }, 'stop');
  assert.equal(troubles.get('u'), undefined);
});
