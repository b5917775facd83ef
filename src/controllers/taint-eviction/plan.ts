import { toleratedSeconds } from '#api/pod/taints.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';

/** How long a pod may stay on its node, counted from when it was first found out. */
export interface Stay {
  readonly seconds: number;
  readonly sinceMs: number;
}

/**
 * How long the `NoExecute` taints of its node let a pod stay.
 *
 * @param known what was found out before: the same answer keeps its start
 * @returns `undefined` for a pod that may stay for ever
 */
export function planStay(pod: Pod, node: Node | undefined, known: Stay | undefined, nowMs: number): Stay | undefined {
  const seconds = toleratedSeconds(node?.spec?.taints, pod.spec?.tolerations);
  if (seconds === Number.POSITIVE_INFINITY) return undefined;
  return known?.seconds === seconds ? known : { seconds, sinceMs: nowMs };
}

/** 0: the time is over. */
export function leftMs(stay: Stay, nowMs: number): number {
  return Math.max(0, stay.sinceMs + stay.seconds * 1000 - nowMs);
}
