import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { next, type PodPhase, type PodSignal, type StopReason } from './pod-phase.ts';

const stop = (reason: StopReason, deadlineMs: number): PodSignal => ({ kind: 'stop', reason, deadlineMs });
const run = (...signals: readonly PodSignal[]): PodPhase => signals.reduce(next, { phase: 'syncing' } as PodPhase);

test('a pod that stops is stopped when everything is taken back', () => {
  assert.deepEqual(run(stop('finished', 5)), { phase: 'stopping', reason: 'finished', deadlineMs: 5 });
  assert.deepEqual(run(stop('finished', 5), { kind: 'unwound', reason: 'finished' }), { phase: 'stopped', reason: 'finished' });
});

test('a deadline comes nearer and never moves away; a deletion is stronger than an end', () => {
  assert.deepEqual(run(stop('finished', 5), stop('deleted', 9)), { phase: 'stopping', reason: 'deleted', deadlineMs: 5 });
  assert.deepEqual(run(stop('deleted', 9), stop('finished', 3)), { phase: 'stopping', reason: 'deleted', deadlineMs: 3 });
});

test('what was taken back for a weaker reason is not enough', () => {
  assert.equal(run(stop('finished', 5), stop('deleted', 5), { kind: 'unwound', reason: 'finished' }).phase, 'stopping');
});

test('a finished pod that is deleted stops once more, a deleted one does not', () => {
  const finished = run(stop('finished', 5), { kind: 'unwound', reason: 'finished' });
  assert.equal(next(finished, stop('deleted', 6)).phase, 'stopping');
  assert.equal(next(finished, stop('evicted', 6)), finished);
  const deleted = run(stop('deleted', 5), { kind: 'unwound', reason: 'deleted' });
  assert.equal(next(deleted, stop('deleted', 6)), deleted);
});

test('a pod never goes back to syncing, and a deadline never grows while it stops', () => {
  const reason = fc.constantFrom<StopReason>('deleted', 'finished', 'rejected', 'evicted', 'orphan');
  const signal: fc.Arbitrary<PodSignal> = fc.oneof(
    fc.record({ kind: fc.constant('stop' as const), reason, deadlineMs: fc.nat(100) }),
    fc.record({ kind: fc.constant('unwound' as const), reason }),
  );
  fc.assert(
    fc.property(fc.array(signal), (signals) => {
      let state: PodPhase = { phase: 'syncing' };
      for (const one of signals) {
        const after = next(state, one);
        if (state.phase !== 'syncing' && after.phase === 'syncing') return false;
        if (state.phase === 'stopping' && after.phase === 'stopping' && after.deadlineMs > state.deadlineMs) return false;
        state = after;
      }
      return true;
    }),
  );
});
