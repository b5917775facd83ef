import type { Pod } from '#api/types/core-v1.ts';

export type RoomAnswer = { readonly admitted: true } | { readonly admitted: false; readonly reason: string; readonly message: string };

/** The node's room for pods: who was let in holds it until it is given back. */
export interface NodeRoomPort {
  /** Lets the pod in if it fits; one that is in stays in. One that runs here since before this kubelet is asked again whether it may stay. */
  admit(pod: Pod, alreadyRuns: boolean, signal: AbortSignal): Promise<RoomAnswer>;
  holds(podUid: string): boolean;
  release(podUid: string): void;
}
