import type { Pod } from '#api/types/core-v1.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';

export type RoomAnswer =
  /** `pod` is the newest object with the CPU and memory that it was given: a wish for more may have to wait. */
  { readonly admitted: true; readonly pod: Pod } | { readonly admitted: false; readonly reason: string; readonly message: string };

/** The node's room for pods: who was let in holds it until it is given back. */
export interface NodeRoomPort {
  /** Lets the pod in if it fits; one that is in stays in. One that runs here since before this kubelet is asked again whether it may stay. */
  admit(pod: Pod, observed: PodRuntimeState, signal: AbortSignal): Promise<RoomAnswer>;
  holds(podUid: string): boolean;
  release(podUid: string): void;
}
