import { type QosClass, qosClass } from '#api/pod/qos.ts';
import type { Pod } from '#api/types/core-v1.ts';

/** Where pods of a class live; Guaranteed pods are directly below the root. */
export function tierPath(root: string, qos: QosClass): string {
  return qos === 'Guaranteed' ? root : `${root}/${qos.toLowerCase()}`;
}

/** Every folder that may hold pods. */
export function tierPaths(root: string): readonly string[] {
  return (['Guaranteed', 'Burstable', 'BestEffort'] as const).map((qos) => tierPath(root, qos));
}

/** The cgroup of a pod, also the `cgroup_parent` of its sandbox and containers. */
export function podCgroupPath(root: string, pod: Pick<Pod, 'metadata' | 'spec' | 'status'>): string {
  return `${tierPath(root, qosClass(pod))}/${podCgroupName(pod.metadata.uid ?? '')}`;
}

export function podCgroupName(podUid: string): string {
  return `pod${podUid}`;
}

/** Uid of the pod that a child of a tier belongs to. */
export function uidOfCgroupName(name: string): string | undefined {
  return name.startsWith('pod') && name.length > 3 ? name.slice(3) : undefined;
}
