import { throwIfAborted, withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { RuntimeCall, StepState, TransitionListener, WakeKey } from '#startup/transition.ts';
import type { FaultPoint } from './fault-points.ts';
import { collectingCalls } from './runtime-calls.ts';
import type { AnyStep, Facts, Outcome, Pipeline, PodRef, StopRequest } from './step.ts';

export interface RunnerDeps {
  readonly clock: Clock;
  readonly emit: TransitionListener;
  /** Told of each boundary of a step: `sandbox:start:before`. */
  readonly faults?: FaultPoint | undefined;
}

/** How far the list came. */
export type RunResult<Have extends Facts> =
  | { readonly kind: 'done'; readonly facts: Have }
  | { readonly kind: 'wait'; readonly step: string; readonly reason: string; readonly wakeOn: readonly WakeKey[]; readonly atLatestMs: number }
  | { readonly kind: 'reject'; readonly step: string; readonly reason: string; readonly detail: string; readonly word?: string }
  | { readonly kind: 'failed'; readonly step: string; readonly error: unknown };

type Failed = { readonly kind: 'failed'; readonly error: unknown };
type StageOutcome = { readonly step: AnyStep; readonly outcome: Outcome<Facts, string> | Failed };

/** Runs the list from the top to the first step that is not done. Steps of one stage run beside each other and all come to their end. */
export async function runPipeline<Start extends Facts, Have extends Start>(
  pipeline: Pick<Pipeline<Have>, 'stages' | 'have'>,
  pod: PodRef,
  start: Start,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<RunResult<Have>> {
  let facts: Facts = start;
  for (const stage of pipeline.stages) {
    const known = facts;
    const outcomes = await Promise.all(stage.map(async (step) => ({ step, outcome: await runStep(step, pod, known, deps, signal) })));
    const stopped = worstOf(outcomes);
    if (stopped !== undefined) return stopped;
    for (const { outcome } of outcomes) if (outcome.kind === 'done') facts = { ...facts, ...outcome.writes };
  }
  return { kind: 'done', facts: facts as Have }; // sound: the pipeline's type is the union of what its steps write
}

/**
 * Walks the list backwards and takes back what each step finds in the world, whatever happened before.
 *
 * @throws what an undo throws; the steps above it are untouched, and the walk may be made again
 */
export async function unwind(
  pipeline: Pick<Pipeline<Facts>, 'steps'>,
  pod: PodRef,
  stop: StopRequest,
  deps: RunnerDeps,
  undoDeadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (const step of [...pipeline.steps].reverse()) {
    const undo = step.undo?.bind(step);
    if (undo === undefined) continue;
    await observed(step, pod, 'stop', deps, async () => {
      const graceMs = Math.max(0, stop.deadlineMs.get() - deps.clock.now());
      await withDeadline(`stop of ${step.name}`, graceMs + undoDeadlineMs, deps.clock, signal, async (inner) =>
        undo(pod, (await step.find?.(pod, inner)) ?? {}, stop, inner),
      );
      return { kind: 'done' };
    });
  }
}

async function runStep(step: AnyStep, pod: PodRef, facts: Facts, deps: RunnerDeps, signal: AbortSignal): Promise<Outcome<Facts, string> | Failed> {
  const reads = Object.fromEntries(step.reads.map((name) => [name, Reflect.get(facts, name)]));
  let outcome: Outcome<Facts, string> | undefined;
  try {
    throwIfAborted(signal);
    await observed(step, pod, 'start', deps, async () => {
      outcome = await step.run(pod, reads, signal);
      return stateOf(outcome);
    });
  } catch (error) {
    return { kind: 'failed', error };
  }
  if (outcome === undefined) throw new Error(`step ${step.name} has no outcome`);
  return outcome;
}

/** Tells of the beginning and of the end of `work`, with the runtime calls that it made. */
async function observed(step: AnyStep, pod: PodRef, direction: 'start' | 'stop', deps: RunnerDeps, work: () => Promise<StepState>): Promise<void> {
  const { clock, emit, faults } = deps;
  const base = { podUid: pod.uid, namespace: pod.namespace, name: pod.name, step: step.name, direction };
  const calls: RuntimeCall[] = [];
  const startedAt = clock.monotonic();
  emit({ ...base, state: { kind: 'started' }, atMs: clock.now(), tookMs: 0, calls });
  faults?.(pod.name, `${step.name}:${direction}:before`);
  const end = (state: StepState) => emit({ ...base, state, atMs: clock.now(), tookMs: clock.monotonic() - startedAt, calls });
  try {
    const state = await collectingCalls(calls, work);
    faults?.(pod.name, `${step.name}:${direction}:after`);
    end(state);
  } catch (error) {
    end({ kind: 'failed', code: error instanceof AppError ? error.code : 'BUG', detail: messageOf(error) });
    throw error;
  }
}

function stateOf(outcome: Outcome<Facts, string>): StepState {
  switch (outcome.kind) {
    case 'done':
      return { kind: 'done' };
    case 'wait':
      return { ...outcome, kind: 'waiting' };
    case 'reject':
      return { ...outcome, kind: 'rejected' };
  }
}

/** A rejected pod is rejected whatever its other step says; a failure is retried soonest; waits are joined. */
function worstOf(outcomes: readonly StageOutcome[]): Exclude<RunResult<Facts>, { kind: 'done' }> | undefined {
  let failed: Exclude<RunResult<Facts>, { kind: 'done' }> | undefined;
  let waiting: Extract<RunResult<Facts>, { kind: 'wait' }> | undefined;
  for (const { step, outcome } of outcomes) {
    if (outcome.kind === 'reject') return { ...outcome, step: step.name };
    if (outcome.kind === 'failed') failed ??= { ...outcome, step: step.name };
    if (outcome.kind !== 'wait') continue;
    const { reason, wakeOn, atLatestMs } = outcome;
    waiting =
      waiting === undefined
        ? { kind: 'wait', step: step.name, reason, wakeOn, atLatestMs }
        : { ...waiting, wakeOn: [...waiting.wakeOn, ...wakeOn], atLatestMs: Math.min(waiting.atLatestMs, atLatestMs) };
  }
  return failed ?? waiting;
}
