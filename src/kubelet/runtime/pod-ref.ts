import type { Pod } from '#api/types/core-v1.ts';
import type { PodRef } from '../pod-start/step.ts';

export function refOf(pod: Pod): PodRef {
  const { uid, namespace, name } = pod.metadata;
  return { uid, namespace, name };
}

/** `<name>_<namespace>(<uid>)`: how messages name a pod. */
export function formatPod(pod: PodRef): string {
  return `${pod.name}_${pod.namespace}(${pod.uid})`;
}
