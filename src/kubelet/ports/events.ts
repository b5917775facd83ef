import type { PodRef } from '../pod-start/step.ts';

/** A Kubernetes event on a pod, or on one of its containers. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  /** Upstream's word. */
  readonly reason: string;
  readonly message: string;
  /** `spec.containers{name}`; absent: the pod. */
  readonly fieldPath?: string | undefined;
  /** For programs. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Tells people what happens to a pod. Never blocks and never fails: what cannot be delivered is dropped. */
export interface EventsPort {
  emit(pod: PodRef, event: PodEvent): void;
}
