import type { Pod } from '#api/types/core-v1.ts';

export type ProbeKind = 'liveness' | 'readiness' | 'startup';
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** Probes of running containers, as the rest of the kubelet sees them. */
export interface ProbesPort {
  /** Starts a worker for each probe of the pod that has none. Called on every sync. */
  ensure(pod: Pod): void;
  /** The pod stops: liveness and startup probes of its app containers end, readiness goes on. */
  stopRestarting(podUid: string): void;
  /** Ends all probes of the pod. */
  remove(podUid: string): void;
  /**
   * Last verdict on that container (runtime's id, without a scheme); `undefined`: the container has no such probe or nothing is known.
   * The start values are those of Kubernetes: liveness success, readiness failure, startup unknown.
   */
  result(containerId: string, kind: ProbeKind): ProbeResult | undefined;
  /** Called after each change of a verdict; the result unsubscribes. */
  subscribe(listener: (podUid: string, containerId: string, kind: ProbeKind) => void): () => void;
}
