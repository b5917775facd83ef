import type { Pod } from '#api/types/core-v1.ts';
import type { FilesystemLayout, PodUsage } from '../ports/stats.ts';
import { type PodUse, podUse } from './pod-use.ts';
import { type Signal, signals } from './signals.ts';

/** Who has to go first: who uses more than asked for, then who matters less, then who uses most beyond what was asked for. */
export function rank(pods: readonly Pod[], usages: ReadonlyMap<string, PodUsage>, signal: Signal, layout: FilesystemLayout): readonly Pod[] {
  const use = new Map(pods.map((pod) => [pod, podUse(pod, usages.get(pod.metadata.uid), signal, layout)]));
  const by: readonly ((pod: Pod) => number)[] = [
    ...(signals[signal].resource === 'pids' ? [] : [(pod: Pod) => exceeds(use.get(pod))]),
    (pod) => pod.spec?.priority ?? 0,
    (pod) => -beyond(use.get(pod)),
  ];
  return [...pods].sort((a, b) => {
    for (const key of by) {
      const [left, right] = [key(a), key(b)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  });
}

/** Smaller goes first; a pod of which nothing is known before all others. */
function exceeds(use: PodUse | undefined): number {
  if (use === undefined) return -1;
  return use.used > use.requested ? 0 : 1;
}

function beyond(use: PodUse | undefined): number {
  return use === undefined ? Number.POSITIVE_INFINITY : use.used - use.requested;
}
