import type { ProbeKind, ProbeResult } from '../ports/probes.ts';

/** What one probe knows of one container. */
export interface ProbeState {
  readonly result: ProbeResult;
  /** Equal outcomes in a row, the last one included. They count on when the container is replaced, as upstream's do. */
  readonly run: { readonly of: 'success' | 'failure'; readonly length: number } | undefined;
  /** The probe has said its last word on this container: nothing more is probed until there is another one. */
  readonly isHeld: boolean;
}

export interface ProbeThresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export const initialResults: Readonly<Record<ProbeKind, ProbeResult>> = { liveness: 'success', readiness: 'failure', startup: 'unknown' };

/**
 * @param before of the container that was there, if any
 * @param wasGood an earlier kubelet told that this container had started (or was ready): it is, until a probe says otherwise
 */
export function stateOfNewContainer(kind: ProbeKind, before: ProbeState | undefined, wasGood: boolean): ProbeState {
  return { result: wasGood ? 'success' : initialResults[kind], run: before?.run, isHeld: wasGood && kind === 'startup' };
}

/** An outcome changes the result only at its threshold. */
export function afterOutcome(state: ProbeState, kind: ProbeKind, outcome: 'success' | 'failure', thresholds: ProbeThresholds): ProbeState {
  const length = state.run?.of === outcome ? state.run.length + 1 : 1;
  const threshold = outcome === 'success' ? thresholds.successThreshold : thresholds.failureThreshold;
  if (length < threshold) return { ...state, run: { of: outcome, length } };
  // A failed liveness probe ends the container, and a startup probe is for its start alone.
  const isLastWord = kind === 'startup' || (kind === 'liveness' && outcome === 'failure');
  return { result: outcome, run: isLastWord ? undefined : { of: outcome, length }, isHeld: isLastWord };
}
