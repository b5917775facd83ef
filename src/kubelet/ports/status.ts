import type { PodRef } from '../pod-start/step.ts';

/** Takes note that a pod's state should be told to the API server. Never waits for it. */
export interface StatusPort {
  /** @param urgency `now`: people wait for it; `soon`: more changes are likely to follow at once */
  changed(pod: PodRef, urgency: 'now' | 'soon'): void;
}
