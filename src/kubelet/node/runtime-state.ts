import type { Clock } from '#base/clock.ts';
import { Cell, type Watchable, waitFor } from '#base/watchable.ts';
import type { RuntimeCondition, RuntimeFeatures, RuntimeHandler, StatusResponse } from '#wire/generated/cri.ts';
import type { NetworkState, RuntimeHealthPort } from '../ports/node-facts.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { goDuration } from '../runtime/go-duration.ts';

/** What the node's Ready condition needs to know of the runtime; a problem is '' when there is none. */
export interface RuntimeState {
  readonly runtimeProblem: string;
  readonly networkProblem: string;
  readonly handlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
}

export interface RuntimeStateOptions {
  readonly runtime: Pick<RuntimePort, 'status'>;
  readonly clock: Clock;
  /** Between two looks while all is well. Upstream's number: 5 s. */
  readonly everyMs?: number | undefined;
  /** Between two looks while something is missing. */
  readonly everyMsWhileNotReady?: number | undefined;
  /** When all pods were last read from the runtime, monotonic; `undefined`: never. */
  readonly listedAtMs?: (() => number | undefined) | undefined;
  /** How long a runtime may not answer before it counts as down. Upstream's number: 30 s. */
  readonly downAfterMs?: number | undefined;
}

export interface RuntimeWatch extends RuntimeHealthPort {
  readonly state: Watchable<RuntimeState>;
  /** Resolves when the runtime has answered once. */
  known(signal: AbortSignal): Promise<void>;
  /** Looks again and again until the signal is aborted. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

/** Upstream's number: for so long the pods in the runtime may not have been looked at. */
const unseenMaxMs = 180_000;
/** So often the node's condition may change for it. */
const unseenStepMs = 10_000;

/** The one watcher of the runtime's own state, for all pods and for the node. */
export function watchRuntime(options: RuntimeStateOptions): RuntimeWatch {
  const { runtime, clock, everyMs = 5_000, everyMsWhileNotReady = 100, downAfterMs = 30_000, listedAtMs } = options;
  const state = new Cell<RuntimeState>(unknownState);
  const network = new Cell<NetworkState>({ ready: false, detail: unknownState.networkProblem });
  const runtimeReady = new Cell(false);
  const isKnown = new Cell(false);
  const take = (next: RuntimeState): void => {
    if (same(next, state.get())) return;
    const ready = next.networkProblem === '';
    if (network.get().ready !== ready || network.get().detail !== next.networkProblem) network.set({ ready, detail: next.networkProblem });
    runtimeReady.set(next.runtimeProblem === '');
    state.set(next);
  };
  return {
    state,
    network,
    runtimeReady,
    known: async (signal) => void (await waitFor(isKnown, (known) => known, signal)),
    async run(signal) {
      let answeredAtMs: number | undefined;
      let startedAtMs: number | undefined;
      while (!signal.aborted) {
        try {
          const next = runtimeStateOf(await runtime.status(signal));
          answeredAtMs = clock.monotonic();
          startedAtMs ??= answeredAtMs;
          const unseen = listedAtMs === undefined ? '' : unseenProblem(listedAtMs(), startedAtMs, answeredAtMs);
          take({ ...next, runtimeProblem: [unseen, next.runtimeProblem].filter((problem) => problem !== '').join(', ') });
          isKnown.set(true);
        } catch {
          if (signal.aborted) return;
          const silentMs = answeredAtMs === undefined ? 0 : clock.monotonic() - answeredAtMs;
          if (silentMs > downAfterMs) take({ ...state.get(), runtimeProblem: 'container runtime is down' });
        }
        const { runtimeProblem, networkProblem } = state.get();
        const isReady = runtimeProblem === '' && networkProblem === '';
        await clock.sleep(isReady ? everyMs : everyMsWhileNotReady, signal).catch(() => undefined); // an aborted wait ends the loop
      }
    },
  };
}

/** A runtime may answer and yet not say what is in it; upstream's words. */
function unseenProblem(listedAtMs: number | undefined, startedAtMs: number, nowMs: number): string {
  const unseenMs = nowMs - (listedAtMs ?? startedAtMs);
  if (unseenMs <= unseenMaxMs) return '';
  if (listedAtMs === undefined) return 'PLEG is not healthy: pleg has yet to be successful';
  const told = Math.floor(unseenMs / unseenStepMs) * unseenStepMs;
  return `PLEG is not healthy: pleg was last seen active ${goDuration(told)} ago; threshold is ${goDuration(unseenMaxMs)}`;
}

/** Pure: what an answer of the runtime says, in upstream's words. */
export function runtimeStateOf(response: StatusResponse): RuntimeState {
  const conditions = response.status?.conditions ?? [];
  return {
    runtimeProblem: problemOf(conditions, 'RuntimeReady', 'container runtime not ready'),
    networkProblem: problemOf(conditions, 'NetworkReady', 'container runtime network not ready'),
    handlers: response.runtimeHandlers,
    features: response.features,
  };
}

const unknownState: RuntimeState = {
  runtimeProblem: 'container runtime status check may not have completed yet',
  networkProblem: 'network state unknown',
  handlers: [],
  features: undefined,
};

function problemOf(conditions: readonly RuntimeCondition[], type: string, what: string): string {
  const condition = conditions.find((one) => one.type === type);
  if (condition?.status === true) return '';
  return `${what}: ${type}=false reason:${condition?.reason ?? ''} message:${condition?.message ?? ''}`;
}

function same(a: RuntimeState, b: RuntimeState): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
