import type { Pod, PodCondition } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { nowSeconds } from '../verbs/times.ts';

/** The pod with the condition; its time moves only when its status changes. */
export function withCondition(pod: Pod, condition: Omit<PodCondition, 'lastTransitionTime' | 'observedGeneration'>, clock: Clock): Pod {
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? nowSeconds(clock)) : nowSeconds(clock);
  const { generation: observedGeneration } = pod.metadata;
  const next: PodCondition = { ...condition, lastTransitionTime, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
  const others = before === undefined ? [...conditions, next] : conditions.map((one) => (one.type === condition.type ? next : one));
  return { ...pod, status: { ...pod.status, conditions: others } };
}
