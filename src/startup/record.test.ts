import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePart } from './pod-startup.ts';
import { type DescribeStep, recordTransition } from './record.ts';
import type { StepState, Transition } from './transition.ts';

const describe: DescribeStep = () => ({
  title: 'Mount the volumes',
  slowAfterMs: 2000,
  reasons: { FailedMount: { event: 'FailedMount', severity: 'Warning', meaning: 'a volume is missing', mend: 'create it' } },
});

function at(atMs: number, state: StepState, more: Partial<Transition> = {}): Transition {
  return { podUid: 'u1', namespace: 'default', name: 'web', step: 'volumes', direction: 'start', state, atMs, tookMs: 0, calls: [], ...more };
}

const record = (transitions: readonly Transition[]) =>
  transitions.reduce<NodePart | undefined>((part, transition) => recordTransition(part, transition, describe), undefined);

const waiting = (detail: string): StepState => ({
  kind: 'waiting',
  reason: 'FailedMount',
  detail,
  wakeOn: [{ kind: 'volume', name: 'data' }],
  atLatestMs: 1000,
});

test('a step that was done at once has its duration and its calls', () => {
  const call = { name: 'RunPodSandbox', startedAtMs: 101, tookMs: 40 };
  const part = record([at(100, { kind: 'started' }), at(150, { kind: 'done' }, { tookMs: 50, calls: [call] })]);
  assert.deepEqual(part?.steps, [
    {
      name: 'volumes',
      title: 'Mount the volumes',
      phase: 'done',
      startedAtMs: 100,
      doneAtMs: 150,
      tookMs: 50,
      attempts: 1,
      slowAfterMs: 2000,
      calls: [call],
    },
  ]);
});

test('a step that waits says since when, for what, and what to try', () => {
  const part = record([
    at(100, { kind: 'started' }),
    at(110, waiting('a'), { tookMs: 10 }),
    at(500, { kind: 'started' }),
    at(505, waiting('b'), { tookMs: 5 }),
  ]);
  assert.deepEqual(part?.steps, [
    {
      name: 'volumes',
      title: 'Mount the volumes',
      phase: 'waiting',
      startedAtMs: 100,
      tookMs: 15,
      attempts: 2,
      sinceMs: 110,
      reason: 'FailedMount',
      detail: 'b',
      meaning: 'a volume is missing',
      mend: 'create it',
      wakeOn: [{ kind: 'volume', name: 'data' }],
      nextTryAtMs: 1505,
      slowAfterMs: 2000,
      calls: [],
    },
  ]);
});

test('trouble that is over leaves no reason behind', () => {
  const part = record([at(100, { kind: 'started' }), at(110, waiting('a')), at(500, { kind: 'started' }), at(505, { kind: 'done' }, { tookMs: 5 })]);
  const [step] = part?.steps ?? [];
  assert.equal(step?.phase, 'done');
  assert.equal(step?.reason, undefined);
  assert.equal(step?.doneAtMs, 505);
});

test('later runs of a step that was done change neither its start nor its duration', () => {
  const first = record([at(100, { kind: 'started' }), at(150, { kind: 'done' }, { tookMs: 50 })]);
  const later = record([
    at(100, { kind: 'started' }),
    at(150, { kind: 'done' }, { tookMs: 50 }),
    at(900, { kind: 'started' }),
    at(990, { kind: 'done' }, { tookMs: 90 }),
  ]);
  assert.deepEqual(later, first);
});

test('a failure after the start is shown although the start was done', () => {
  const failed: StepState = { kind: 'failed', code: 'RUNTIME_FAILED', detail: 'no shim' };
  const part = record([at(150, { kind: 'done' }, { tookMs: 50 }), at(900, failed, { tookMs: 1 })]);
  assert.deepEqual(
    [part?.steps[0]?.phase, part?.steps[0]?.reason, part?.steps[0]?.sinceMs, part?.steps[0]?.tookMs],
    ['failed', 'RUNTIME_FAILED', 900, 50],
  );
});

test('the way down does not change the record of the start', () => {
  const up = record([at(150, { kind: 'done' }, { tookMs: 50 })]);
  const down = record([at(150, { kind: 'done' }, { tookMs: 50 }), at(900, { kind: 'done' }, { direction: 'stop', tookMs: 70 })]);
  assert.deepEqual(down, up);
});
