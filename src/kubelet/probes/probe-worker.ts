import type { Probe } from '#api/types/core-v1.ts';
import type { Clock, Timer } from '#base/clock.ts';
import type { ProbeKind, ProbeResult } from '../ports/probes.ts';
import { afterOutcome, type ProbeState, stateOfNewContainer } from './probe-state.ts';
import type { ProbeOutcome } from './run-probe.ts';

/** What is known of the container that a worker probes. */
export interface ContainerView {
  /** Without a scheme. */
  readonly id: string;
  readonly isRunning: boolean;
  /** Epoch. */
  readonly startedAtMs: number;
}

export interface ProbeWorkerDeps {
  readonly clock: Clock;
  /** Runs the probe once. Throws only when the signal is aborted. */
  readonly ask: (view: ContainerView, signal: AbortSignal) => Promise<ProbeOutcome>;
  /** Whether the container has started, as far as its startup probe is concerned. */
  readonly hasStarted: () => boolean;
  /** An earlier kubelet told that the container had started, or was ready: what this probe is about. */
  readonly wasGood: (view: ContainerView) => boolean;
  /** How long the first look at a container waits beyond its initial delay. */
  readonly firstDelayMs: (view: ContainerView, periodMs: number) => number;
  /** The pod is being deleted: nothing may be restarted any more. */
  readonly isDeleting: () => boolean;
  readonly onOutcome: (outcome: ProbeOutcome) => void;
  readonly onResult: (containerId: string, result: ProbeResult) => void;
  /** Owns the running probe. */
  readonly run: (task: () => Promise<void>) => void;
}

const shortestPeriodMs = 1000;

/**
 * One probe of one container, through all its restarts. Its timer runs only while there is something to ask: the container runs, has
 * started (for liveness and readiness), and the probe has not said its last word.
 */
export class ProbeWorker {
  readonly kind: ProbeKind;
  readonly #probe: Probe;
  readonly #deps: ProbeWorkerDeps;
  #view: ContainerView | undefined;
  #state: ProbeState | undefined;
  #isStopped = false;
  #timer: Timer | undefined;
  #asking: AbortController | undefined;
  /** Monotonic; the last time that was meant for a look. The next one is a period later, however late this one was. */
  #dueAtMs = Number.NEGATIVE_INFINITY;

  constructor(kind: ProbeKind, probe: Probe, deps: ProbeWorkerDeps) {
    this.kind = kind;
    this.#probe = probe;
    this.#deps = deps;
  }

  /** Of the container that is probed now. */
  get lastResult(): ProbeResult | undefined {
    return this.#state?.result;
  }

  /** @returns undefined for another container than the one that is probed */
  resultOf(containerId: string): ProbeResult | undefined {
    return this.#view?.id === containerId ? this.#state?.result : undefined;
  }

  /** Takes in what is known of the newest container of that name, and asks as soon as it may be asked. */
  see(view: ContainerView): void {
    if (this.#isStopped) return;
    const isNew = view.id !== this.#view?.id;
    if (isNew) {
      this.#rest();
      this.#state = stateOfNewContainer(this.kind, this.#state, this.#deps.wasGood(view));
    }
    this.#view = view;
    if (view.isRunning) this.#begin(isNew ? this.#deps.firstDelayMs(view, this.#periodMs) : 0);
    else {
      this.#rest();
      this.#settle({ result: 'failure', run: this.#state?.run, isHeld: true });
    }
  }

  /** Starts the timer if there is something to ask now: call it when the container has started. */
  wake(): void {
    this.#begin(0);
  }

  /** Somebody waits for a better answer: asks now instead of at the next period. Not more often than a period may be short. */
  hurry(): void {
    const { clock } = this.#deps;
    if (this.#timer === undefined || this.#asking !== undefined || this.#view === undefined || this.#state?.result === 'success') return;
    if (!this.#mayAsk() || this.#initialDelayMs(this.#view) > 0 || clock.monotonic() - this.#dueAtMs < shortestPeriodMs) return;
    this.#timer.cancel();
    this.#askAt(clock.monotonic());
  }

  /** Nothing more is asked; the result stays. */
  stop(): void {
    this.#isStopped = true;
    this.#rest();
  }

  #begin(delayMs: number): void {
    if (this.#view === undefined || this.#timer !== undefined || this.#asking !== undefined || !this.#mayAsk()) return;
    this.#askAt(this.#deps.clock.monotonic() + this.#initialDelayMs(this.#view) + delayMs);
  }

  #mayAsk(): boolean {
    if (this.#isStopped || this.#view?.isRunning !== true || this.#state === undefined || this.#state.isHeld) return false;
    return this.kind === 'startup' || this.#deps.hasStarted();
  }

  get #periodMs(): number {
    return (this.#probe.periodSeconds ?? 10) * 1000;
  }

  /** What is left of it. */
  #initialDelayMs(view: ContainerView): number {
    return Math.max(0, view.startedAtMs + (this.#probe.initialDelaySeconds ?? 0) * 1000 - this.#deps.clock.now());
  }

  #askAt(dueAtMs: number): void {
    const { clock, run } = this.#deps;
    this.#timer = clock.after(Math.max(0, dueAtMs - clock.monotonic()), () => {
      this.#timer = undefined;
      this.#dueAtMs = dueAtMs;
      run(() => this.#ask());
    });
  }

  /** A look that took longer than a period is followed by the next one at once, and those that were missed are left out. */
  #nextDueMs(): number {
    const lateMs = this.#deps.clock.monotonic() - this.#dueAtMs;
    return this.#dueAtMs + Math.max(1, Math.floor(lateMs / this.#periodMs)) * this.#periodMs;
  }

  async #ask(): Promise<void> {
    const view = this.#view;
    if (view === undefined || !this.#mayAsk()) return;
    if (this.kind !== 'readiness' && this.#deps.isDeleting()) {
      this.stop();
      this.#settle({ result: 'success', run: undefined, isHeld: true });
      return;
    }
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const outcome = await this.#deps.ask(view, asking.signal);
      if (!asking.signal.aborted) this.#take(outcome);
    } catch (error) {
      if (!asking.signal.aborted) throw error;
    } finally {
      // Only now, so that whoever heard of the result cannot make us ask again at once.
      if (!asking.signal.aborted) {
        this.#asking = undefined;
        if (this.#mayAsk()) this.#askAt(this.#nextDueMs());
      }
    }
  }

  #take(outcome: ProbeOutcome): void {
    this.#deps.onOutcome(outcome);
    if (outcome.kind === 'error' || this.#state === undefined) return; // could not be asked: counts as nothing
    const { successThreshold = 1, failureThreshold = 3 } = this.#probe;
    this.#settle(afterOutcome(this.#state, this.kind, outcome.kind === 'failure' ? 'failure' : 'success', { successThreshold, failureThreshold }));
  }

  #settle(next: ProbeState): void {
    const before = this.#state;
    this.#state = next;
    if (before?.result !== next.result && this.#view !== undefined) this.#deps.onResult(this.#view.id, next.result);
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#asking?.abort();
    this.#asking = undefined;
  }
}
