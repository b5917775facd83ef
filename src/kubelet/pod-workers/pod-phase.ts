import type { StopRequest } from '../pod-start/step.ts';

export type StopReason = StopRequest['reason'];

// syncing --stop--> stopping --unwound--> stopped
//                      ^                     `-- deleted, orphan --> stopping (what was kept for a finished pod goes too)
//                      `-- stop: the deadline comes nearer, the reason gets stronger
export type PodPhase =
  | { readonly phase: 'syncing' }
  | { readonly phase: 'stopping'; readonly reason: StopReason; readonly deadlineMs: number }
  | { readonly phase: 'stopped'; readonly reason: StopReason };

export type PodSignal =
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly deadlineMs: number }
  /** Everything was taken back that this reason asks to take back. */
  | { readonly kind: 'unwound'; readonly reason: StopReason };

/** Never backwards: a pod that stops does not start again. */
export function next(state: PodPhase, signal: PodSignal): PodPhase {
  switch (signal.kind) {
    case 'stop':
      switch (state.phase) {
        case 'syncing':
          return { phase: 'stopping', reason: signal.reason, deadlineMs: signal.deadlineMs };
        case 'stopping':
          return { ...state, reason: stronger(state.reason, signal.reason), deadlineMs: Math.min(state.deadlineMs, signal.deadlineMs) };
        case 'stopped':
          return leavesNothing(signal.reason) && !leavesNothing(state.reason)
            ? { phase: 'stopping', reason: signal.reason, deadlineMs: signal.deadlineMs }
            : state;
      }
      break;
    case 'unwound':
      // A stronger reason may have come meanwhile: then there is more to do.
      return state.phase === 'stopping' && state.reason === signal.reason ? { phase: 'stopped', reason: state.reason } : state;
  }
  return state;
}

/** Nothing is kept, not even logs. */
export function leavesNothing(reason: StopReason): boolean {
  return reason === 'deleted' || reason === 'orphan';
}

function stronger(a: StopReason, b: StopReason): StopReason {
  return leavesNothing(b) && !leavesNothing(a) ? b : a;
}
