import type { Pod } from '#api/types/core-v1.ts';
import type { ContainerKind } from './pod-runtime.ts';

/** What a worker did in one turn. */
export type WorkerTurn = 'create' | 'update' | 'sync' | 'terminating' | 'terminated';

/** Told of what is counted and timed about pods. None of it may throw or take time: starts of pods pass here. */
export interface PodCounts {
  /** The kubelet hears of the pod for the first time. */
  seen(pod: Pod): void;
  /** The pod as the API server has it by now. */
  observed(pod: Pod): void;
  gone(podUid: string): void;
  worked(turn: WorkerTurn, tookMs: number): void;
  /** @param tookMs since the first change that the API server had not been told */
  statusTold(tookMs: number): void;
  /** The pod begins to wait for an image from a registry; the answer is called when that is over. */
  pulling(podUid: string): () => void;
  containerStarts(kind: ContainerKind): void;
  /** @param reason upstream's word for what keeps it from starting */
  containerBlocked(kind: ContainerKind, reason: string): void;
  /** A volume that is an image was asked for, is there, or is not. */
  imageVolume(state: 'requested' | 'mounted' | 'failed'): void;
  /** A hook was to speak HTTPS with a server that speaks HTTP. */
  hookFellBack(): void;
  /** A sleep of a hook was cut short. */
  sleepCut(): void;
  /** A pod had to go for a critical one. @param resource that was short */
  preempted(resource: string): void;
  /** A pod that nobody knows was found in the runtime. */
  orphaned(): void;
  /** A pod came back under its old uid after its end. */
  restarted(isStatic: boolean): void;
}

/** For tests, and for whoever counts nothing. */
export const noPodCounts: PodCounts = {
  seen: () => undefined,
  observed: () => undefined,
  gone: () => undefined,
  worked: () => undefined,
  statusTold: () => undefined,
  pulling: () => () => undefined,
  containerStarts: () => undefined,
  containerBlocked: () => undefined,
  imageVolume: () => undefined,
  hookFellBack: () => undefined,
  sleepCut: () => undefined,
  preempted: () => undefined,
  orphaned: () => undefined,
  restarted: () => undefined,
};
