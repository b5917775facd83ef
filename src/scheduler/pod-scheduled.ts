import { deepEqual } from '#api/deep-equal.ts';
import type { Pod, PodCondition } from '#api/types/core-v1.ts';

/** `Unschedulable`: no node fits. `SchedulerError`: the try broke off. */
export type UnscheduledReason = 'Unschedulable' | 'SchedulerError';

/**
 * The patch of `status` that tells why a pod has no node.
 *
 * @returns `undefined` when its condition says so already
 */
export function unscheduledPatch(pod: Pod, reason: UnscheduledReason, message: string, now: string): object | undefined {
  const present = (pod.status?.conditions ?? []).find(({ type }) => type === 'PodScheduled');
  const told: PodCondition = { type: 'PodScheduled', status: 'False', reason, message };
  if (deepEqual(present, { ...present, ...told })) return undefined;
  const lastTransitionTime = present?.status === 'False' ? present.lastTransitionTime : now;
  const generation = pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation };
  return { status: { conditions: [{ ...told, lastTransitionTime, ...generation }] } };
}
