import type { Pod } from '#api/types/core-v1.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock, Timer } from '#base/clock.ts';
import { AppError, Cancelled, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { Cell, type Watchable, waitFor } from '#base/watchable.ts';
import type { WakeKey } from '#startup/transition.ts';
import type { PodFacts } from '../pod-start/facts.ts';
import type { podStart } from '../pod-start/pod-start.ts';
import { type RunnerDeps, type RunResult, runPipeline, unwind } from '../pod-start/runner.ts';
import type { Facts, PodRef, StopRequest } from '../pod-start/step.ts';
import type { PodCounts, WorkerTurn } from '../ports/pod-counts.ts';
import { computeActions } from '../runtime/compute-actions.ts';
import { isSettled, type PodActions, type ProbeVerdicts } from '../runtime/pod-actions.ts';
import { refOf } from '../runtime/pod-ref.ts';
import { isRunning, newestOf, type PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { isTerminal, type Refusal } from '../status/compute-pod-status.ts';
import type { ReportedStatus } from '../status/status-reporter.ts';
import { leavesNothing, next, type PodPhase, type StopReason } from './pod-phase.ts';

export interface WorkerSettings {
  /** A settled pod is looked at again after 1 to 1.5 times so long. */
  readonly syncMs: number;
  /** After a failure, 1 to 1.5 times. */
  readonly retryMs: number;
  /** No wait of a step lasts longer; upstream's own periods are shorter. */
  readonly longestWaitMs: number;
  /** What the end of one step may take beyond the pod's grace. */
  readonly undoMs: number;
}

export const defaultWorkerSettings: WorkerSettings = { syncMs: 60_000, retryMs: 10_000, longestWaitMs: 60_000, undoMs: 120_000 };

export interface WorkerDeps {
  readonly pipeline: ReturnType<typeof podStart>;
  readonly runner: RunnerDeps;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: WorkerSettings;
  readonly random: () => number;
  readonly verdicts: ProbeVerdicts;
  readonly observe: (pod: PodRef) => PodRuntimeState;
  /** While the runtime is not, nothing is done; what comes meanwhile is done afterwards, of each pod the newest. */
  readonly runtimeReady: Watchable<boolean>;
  /** The list has to be run although spec and runtime ask for nothing. */
  readonly needsSync: (podUid: string) => boolean;
  /** Calls back when any of the keys comes; the result unsubscribes. */
  readonly subscribe: (keys: readonly WakeKey[], wake: () => void) => () => void;
  /** These containers are put in the place of running ones: until that is done, or given up, their ends are not the end of the pod. */
  readonly replacing: (podUid: string, containers: readonly string[]) => void;
  /** What was begun with the pod's containers is done or given up. */
  readonly settled: (podUid: string) => void;
  /** Computes and queues the status; none for a pod without an object. */
  readonly report: (podUid: string) => ReportedStatus | undefined;
  /** What runs has to be probed; called on every sync. */
  readonly probe: (pod: Pod) => void;
  /** The pod begins to stop, and later is stopped: status, probes and others are told. */
  readonly stopping: (pod: Pod) => void;
  readonly stopped: (pod: Pod, reason: StopReason) => void;
  readonly counts: PodCounts;
}

/** One pod's loop: one thing at a time, always on the newest object, until nothing of the pod is left. */
export class PodWorker {
  readonly ref: PodRef;
  readonly #deps: WorkerDeps;
  #pod: Pod;
  #turn: WorkerTurn = 'create';
  #state: PodPhase = { phase: 'syncing' };
  #refusal: Refusal | undefined;
  readonly #deadlineMs: Cell<number>;
  #isDirty = true;
  #wake: (() => void) | undefined;
  /** Ends the pod when it has been active for as long as it may, whatever its loop is doing then. */
  #deadline: { readonly atMs: number; readonly timer: Timer } | undefined;
  #cancelSync: AbortController | undefined;
  /** The spec with which the whole list was last done; only then the decision alone tells whether there is anything to do. */
  #doneWith: string | undefined;

  constructor(pod: Pod, deps: WorkerDeps) {
    this.ref = refOf(pod);
    this.#pod = pod;
    this.#deps = deps;
    this.#deadlineMs = new Cell(Number.POSITIVE_INFINITY);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get state(): PodPhase {
    return this.#state;
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Nothing of it runs and nothing will. */
  get hasEnded(): boolean {
    return this.#state.phase === 'stopped' || (this.#state.phase === 'stopping' && !this.#deps.observe(this.ref).containers.some(isRunning));
  }

  update(pod: Pod): void {
    const before = keyOf(this.#pod);
    this.#pod = pod;
    if (keyOf(pod) === before) return;
    if (this.#turn === 'sync') this.#turn = 'update';
    this.wake();
  }

  /** Something changed that the pod may have waited for. */
  wake(): void {
    this.#isDirty = true;
    this.#wake?.();
  }

  /** @param graceMs from now on; a grace that runs already is only ever shortened */
  stop(reason: StopReason, graceMs: number, refusal?: Refusal): void {
    const before = this.#state;
    this.#state = next(before, { kind: 'stop', reason, deadlineMs: this.#deps.clock.now() + graceMs });
    this.#refusal ??= refusal;
    if (this.#state === before) return;
    if (this.#state.phase === 'stopping') this.#deadlineMs.set(this.#state.deadlineMs);
    if (before.phase === 'syncing') {
      this.#watchDeadline(undefined);
      this.#cancelSync?.abort(new Cancelled({ message: `the pod stops: ${reason}` }));
      this.#deps.stopping(this.#pod);
    }
    this.wake();
  }

  /** Runs until nothing of the pod is left, or the signal is aborted: then the pod stays as it is. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = onAbort(signal, () => this.#deadline?.timer.cancel());
    while (!signal.aborted) {
      if (!this.#deps.runtimeReady.get()) await this.#untilRuntimeIsReady(signal);
      this.#isDirty = false;
      if (signal.aborted) break;
      const { waitMs, wakeOn } = await this.#timed(() => this.#step(signal));
      const state: PodPhase = this.#state;
      if (state.phase === 'stopped' && leavesNothing(state.reason)) return forget();
      if (!this.#isDirty) await this.#pause(waitMs, wakeOn, signal);
    }
  }

  async #untilRuntimeIsReady(signal: AbortSignal): Promise<void> {
    try {
      await waitFor(this.#deps.runtimeReady, (ready) => ready, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const { clock, counts } = this.#deps;
    const before: PodPhase = this.#state;
    const turn = this.#turn;
    if (before.phase === 'syncing') this.#turn = 'sync'; // what comes meanwhile is an update of the next turn
    const startedAt = clock.monotonic();
    const result = await work();
    const tookMs = clock.monotonic() - startedAt;
    const after: PodPhase = this.#state;
    if (before.phase === 'syncing') counts.worked(turn, tookMs);
    else if (before.phase === 'stopping') counts.worked(after.phase === 'stopped' ? 'terminated' : 'terminating', tookMs);
    return result;
  }

  async #step(signal: AbortSignal): Promise<{ readonly waitMs: number; readonly wakeOn: readonly WakeKey[] }> {
    const { settings } = this.#deps;
    switch (this.#state.phase) {
      case 'syncing':
        return this.#sync(signal);
      case 'stopping':
        return { waitMs: (await this.#unwind(this.#state.reason, signal)) ? 0 : this.#spread(settings.retryMs), wakeOn: [{ kind: 'runtime' }] };
      case 'stopped':
        return { waitMs: this.#spread(settings.syncMs), wakeOn: [] };
    }
  }

  async #sync(signal: AbortSignal): Promise<{ readonly waitMs: number; readonly wakeOn: readonly WakeKey[] }> {
    const { settings, verdicts, report, observe } = this.#deps;
    const pod = this.#pod;
    this.#deps.probe(pod); // before it is reported: when the kubelet comes back its probes know that what was ready still is
    const reported = report(this.ref.uid);
    if (isTerminal(reported?.phase)) {
      this.stop('finished', graceMsOf(pod));
      return { waitMs: 0, wakeOn: [] };
    }
    this.#watchDeadline(reported?.deadlineMs);
    const observed = observe(this.ref);
    const settledMs = Math.min(this.#spread(settings.syncMs), (reported?.deadlineMs ?? Number.POSITIVE_INFINITY) - this.#deps.clock.now());
    const isDone = this.#doneWith === keyOf(pod) && !this.#deps.needsSync(this.ref.uid);
    const actions = computeActions(pod, observed, verdicts);
    if (isDone && isSettled(actions)) return { waitMs: settledMs, wakeOn: [] };
    this.#doneWith = undefined;
    this.#deps.replacing(this.ref.uid, replacedBy(actions, observed));
    const result = await this.#runList(pod, { pod, observed, verdicts }, signal);
    this.#deps.settled(this.ref.uid);
    if (this.#state.phase !== 'syncing') return { waitMs: 0, wakeOn: [] };
    switch (result.kind) {
      case 'done':
        this.#doneWith = keyOf(pod);
        return { waitMs: settledMs, wakeOn: [] };
      case 'wait':
        return { waitMs: Math.min(result.atLatestMs, settings.longestWaitMs, settledMs), wakeOn: result.wakeOn };
      case 'reject':
        this.stop('rejected', graceMsOf(pod), { reason: result.word ?? result.reason, message: `Pod was rejected: ${result.detail}` });
        return { waitMs: 0, wakeOn: [] };
      case 'failed':
        this.#logFailure(result.step, result.error, signal);
        return { waitMs: this.#spread(settings.retryMs), wakeOn: [] };
    }
  }

  #watchDeadline(atMs: number | undefined): void {
    if (atMs === this.#deadline?.atMs) return;
    this.#deadline?.timer.cancel();
    this.#deadline = undefined;
    if (atMs === undefined) return;
    const timer = this.#deps.clock.after(atMs - this.#deps.clock.now(), () => {
      if (this.#state.phase === 'syncing' && isTerminal(this.#deps.report(this.ref.uid)?.phase)) this.stop('finished', graceMsOf(this.#pod));
    });
    this.#deadline = { atMs, timer };
  }

  async #runList(pod: Pod, start: PodFacts, signal: AbortSignal): Promise<RunResult<Facts>> {
    const cancel = new AbortController();
    const forget = onAbort(signal, () => cancel.abort(signal.reason));
    this.#cancelSync = cancel;
    try {
      return await runPipeline(this.#deps.pipeline, refOf(pod), start, this.#deps.runner, cancel.signal);
    } finally {
      this.#cancelSync = undefined;
      forget();
    }
  }

  /** @returns whether everything is taken back */
  async #unwind(reason: StopReason, signal: AbortSignal): Promise<boolean> {
    const { pipeline, runner, settings, stopped } = this.#deps;
    const stop: StopRequest = { reason, deadlineMs: this.#deadlineMs, spec: this.#pod.spec };
    try {
      await unwind(pipeline, this.ref, stop, runner, settings.undoMs, signal);
    } catch (error) {
      this.#logFailure('stop', error, signal);
      return false;
    }
    this.#state = next(this.#state, { kind: 'unwound', reason });
    if (this.#state.phase === 'stopped') stopped(this.#pod, reason);
    return true;
  }

  #logFailure(step: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted || error instanceof Cancelled) return;
    const fields = { pod: `${this.ref.namespace}/${this.ref.name}`, step, error: messageOf(error) };
    if (error instanceof AppError) this.#deps.logger.warn('a step failed', { ...fields, code: error.code });
    else this.#deps.logger.error('a step has a bug', { ...fields, stack: error instanceof Error ? error.stack : undefined });
  }

  /** Until something comes, or time is up. */
  async #pause(waitMs: number, wakeOn: readonly WakeKey[], signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        timer.cancel();
        unsubscribe();
        forget();
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      const timer = this.#deps.clock.after(Math.max(0, waitMs), done);
      const forget = onAbort(signal, () => done());
      const unsubscribe = this.#deps.subscribe(wakeOn, () => this.wake());
    });
  }

  #spread(ms: number): number {
    return ms * (1 + this.#deps.random() / 2);
  }
}

/** Those that run and are started again all the same. */
function replacedBy({ startInit, startContainers }: PodActions, observed: PodRuntimeState): readonly string[] {
  return [...startInit, ...startContainers].filter((name) => newestOf(observed, name)?.phase === 'running');
}

/** What a person or controller wants of the pod: a change of anything else is no reason to look at it. */
function keyOf({ metadata, spec }: Pod): string {
  const { generation, labels, annotations, deletionTimestamp } = metadata;
  return JSON.stringify([generation ?? spec, labels, annotations, deletionTimestamp]);
}

/** Upstream's floor: even a pod that is to go at once gets a second. */
export const leastGraceMs = 1000;

export function graceMsOf({ metadata, spec }: Pod): number {
  return Math.max(leastGraceMs, (metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 2) * 1000);
}
