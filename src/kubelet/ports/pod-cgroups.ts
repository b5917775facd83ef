import type { Pod } from '#api/types/core-v1.ts';

/** Cgroups of pods, as their start and end need them. */
export interface PodCgroupsPort {
  /** Makes the pod's cgroup; one that is there is left as it is. @returns its path */
  ensure(pod: Pod, signal: AbortSignal): Promise<string>;
  find(podUid: string, signal: AbortSignal): Promise<string | undefined>;
  remove(podUid: string, signal: AbortSignal): Promise<void>;
}
