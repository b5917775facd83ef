import type { PodRef } from '../pod-start/step.ts';

/** The folders of pods on the node. */
export interface PodDirectoriesPort {
  /** Makes the pod's own folder and those for volumes and plugins. @returns the pod's folder */
  ensure(pod: PodRef, signal: AbortSignal): Promise<string>;
  find(podUid: string, signal: AbortSignal): Promise<string | undefined>;
  /** @throws {MountBelow} and removes nothing while something is mounted there */
  remove(podUid: string, signal: AbortSignal): Promise<void>;
}
