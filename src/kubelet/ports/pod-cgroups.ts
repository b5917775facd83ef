import type { Pod } from '#api/types/core-v1.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';

/** Cgroups of pods, as their start and end need them. */
export interface PodCgroupsPort {
  /** Makes the pod's cgroup; one that is there is left as it is. @returns its path */
  ensure(pod: Pod, signal: AbortSignal): Promise<string>;
  /** Brings the pod's cgroup and its running containers to the size that the pod was given. What fails is told, and tried again later. */
  resize(pod: Pod, observed: PodRuntimeState, cgroupPath: string, signal: AbortSignal): Promise<void>;
  find(podUid: string, signal: AbortSignal): Promise<string | undefined>;
  remove(podUid: string, signal: AbortSignal): Promise<void>;
}
