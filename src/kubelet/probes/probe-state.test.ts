import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeKind } from '../ports/probes.ts';
import { afterOutcome, type ProbeState, stateOfNewContainer } from './probe-state.ts';

const thresholds = { successThreshold: 2, failureThreshold: 3 };

/** @param outcomes s or f each */
function after(kind: ProbeKind, outcomes: string, from?: ProbeState): ProbeState {
  const start = from ?? stateOfNewContainer(kind, undefined, false);
  return [...outcomes].reduce((state, letter) => afterOutcome(state, kind, letter === 's' ? 'success' : 'failure', thresholds), start);
}

for (const [kind, outcomes, result, isHeld] of [
  ['liveness', '', 'success', false],
  ['readiness', '', 'failure', false],
  ['startup', '', 'unknown', false],
  ['readiness', 's', 'failure', false],
  ['readiness', 'ss', 'success', false],
  ['readiness', 'sfs', 'failure', false],
  ['readiness', 'ssff', 'success', false],
  ['readiness', 'ssfff', 'failure', false],
  ['liveness', 'ff', 'success', false],
  ['liveness', 'ffsff', 'success', false],
  ['liveness', 'fff', 'failure', true],
  ['startup', 'ff', 'unknown', false],
  ['startup', 'fff', 'failure', true],
  ['startup', 'ffss', 'success', true],
] as const) {
  test(`${kind} after "${outcomes}" is ${result}${isHeld ? ', for good' : ''}`, () => {
    const state = after(kind, outcomes);
    assert.deepEqual([state.result, state.isHeld], [result, isHeld]);
  });
}

test('a new container starts with the initial result, and failures in a row count on', () => {
  const before = after('liveness', 'ff');
  const next = stateOfNewContainer('liveness', before, false);
  assert.equal(next.result, 'success');
  assert.equal(after('liveness', 'f', next).result, 'failure');
});

test('after the last word the count starts anew', () => {
  const next = stateOfNewContainer('liveness', after('liveness', 'fff'), false);
  assert.equal(after('liveness', 'ff', next).result, 'success');
});
