import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';

/** Changes of CPU and memory of pods that run, as their workers need to know of them. */
export interface ResizesPort {
  /** Whether the pod's list must be run although its spec and its containers ask for nothing. */
  needsSync(podUid: string): boolean;
  /** The same state with what its containers have now. */
  observed(state: PodRuntimeState): PodRuntimeState;
}
