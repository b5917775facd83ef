import type { NodePart, StepRecord } from './pod-startup.ts';
import type { ReasonDoc } from './reason.ts';
import type { StepState, Transition } from './transition.ts';

/** What a step's definition says about it, for the record. */
export interface StepDoc {
  readonly title: string;
  readonly slowAfterMs: number;
  readonly reasons: Readonly<Record<string, ReasonDoc>>;
}

export type DescribeStep = (step: string) => StepDoc;

/** Only so many calls are kept of a step: a step that is retried for hours must not grow without end. */
const keptCalls = 32;

/** The record after one more transition of the way up; the way down is not part of a start. */
export function recordTransition(part: NodePart | undefined, transition: Transition, describe: DescribeStep): NodePart {
  const before: NodePart = part ?? {
    namespace: transition.namespace,
    name: transition.name,
    uid: transition.podUid,
    seenByKubeletMs: transition.atMs,
    steps: [],
  };
  if (transition.direction === 'stop') return before;
  const known = before.steps.find((step) => step.name === transition.step);
  const next = nextStep(known, transition, describe(transition.step));
  const steps = known === undefined ? [...before.steps, next] : before.steps.map((step) => (step === known ? next : step));
  return { ...before, steps };
}

function nextStep(known: StepRecord | undefined, transition: Transition, doc: StepDoc): StepRecord {
  const before: StepRecord = known ?? {
    name: transition.step,
    title: doc.title,
    phase: 'running',
    startedAtMs: transition.atMs - transition.tookMs,
    tookMs: 0,
    attempts: 0,
    slowAfterMs: doc.slowAfterMs,
    calls: [],
  };
  const isFirstDone = before.doneAtMs === undefined;
  const { state } = transition;
  if (state.kind === 'started')
    return isFirstDone ? { ...before, attempts: before.attempts + 1, phase: before.reason === undefined ? 'running' : before.phase } : before;
  const figures = isFirstDone ? { tookMs: before.tookMs + transition.tookMs, calls: [...before.calls, ...transition.calls].slice(-keptCalls) } : {};
  return {
    ...withoutTrouble(before),
    ...figures,
    ...troubleOf(before, state, transition.atMs, doc),
    ...(state.kind === 'done' && isFirstDone ? { doneAtMs: transition.atMs } : {}),
  };
}

function withoutTrouble(step: StepRecord): StepRecord {
  const { sinceMs: _since, reason: _reason, detail: _detail, meaning: _meaning, mend: _mend, wakeOn: _wakeOn, nextTryAtMs: _next, ...rest } = step;
  return rest;
}

function troubleOf(
  before: StepRecord,
  state: Exclude<StepState, { kind: 'started' }>,
  atMs: number,
  doc: StepDoc,
): Partial<StepRecord> & Pick<StepRecord, 'phase'> {
  if (state.kind === 'done') return { phase: 'done' };
  const reason = state.kind === 'failed' ? state.code : state.reason;
  const sinceMs = before.reason === reason && before.sinceMs !== undefined ? before.sinceMs : atMs;
  const reasonDoc = doc.reasons[reason];
  const common = { sinceMs, reason, detail: state.detail, meaning: reasonDoc?.meaning, mend: reasonDoc?.mend };
  if (state.kind !== 'waiting') return { phase: state.kind, ...common };
  return { phase: 'waiting', ...common, wakeOn: state.wakeOn, nextTryAtMs: atMs + state.atLatestMs };
}
