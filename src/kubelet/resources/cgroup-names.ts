import { type QosClass, qosClass } from '#api/pod/qos.ts';
import type { Pod } from '#api/types/core-v1.ts';

export type CgroupDriver = 'cgroupfs' | 'systemd';

/** Where the cgroups of a node's pods are, below the root of each hierarchy. */
export interface CgroupNames {
  readonly root: string;
  /** The root as upstream writes it in messages: `["kubepods"]`. */
  readonly rootTitle: string;
  /** Where pods of a class live; Guaranteed pods are directly below the root. */
  tier(qos: QosClass): string;
  /** Every folder that may hold pods. */
  readonly tiers: readonly string[];
  /** The cgroup of a pod, also the `cgroup_parent` of its sandbox and containers. */
  pod(pod: Pick<Pod, 'metadata' | 'spec' | 'status'>): string;
  /** Uid of the pod that a child of a tier belongs to. */
  uidOf(childName: string): string | undefined;
}

/** @param root of all pods in cgroupfs' way of writing: `/kubernode/default` */
export function cgroupNames(root: string, driver: CgroupDriver): CgroupNames {
  const base = root.split('/').filter((part) => part !== '');
  const path = driver === 'systemd' ? systemdPath : (parts: readonly string[]) => `/${parts.join('/')}`;
  const tierParts = (qos: QosClass) => (qos === 'Guaranteed' ? base : [...base, qos.toLowerCase()]);
  const tier = (qos: QosClass) => path(tierParts(qos));
  return {
    root: path(base),
    rootTitle: cgroupTitle(base),
    tier,
    tiers: classes.map(tier),
    pod: (pod) => path([...tierParts(qosClass(pod)), `pod${pod.metadata.uid}`]),
    uidOf: driver === 'systemd' ? uidOfSlice : (name) => (name.startsWith('pod') && name.length > 3 ? name.slice(3) : undefined),
  };
}

/** A cgroup's name part by part, as upstream writes it in messages. */
export function cgroupTitle(parts: readonly string[]): string {
  return `[${parts.map((part) => JSON.stringify(part)).join(' ')}]`;
}

const classes = ['Guaranteed', 'Burstable', 'BestEffort'] as const;

/**
 * systemd's name of a slice has those of all slices above it: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice`. `-`
 * parts the names, so inside a name it is `_`.
 */
export function systemdPath(parts: readonly string[]): string {
  const escaped = parts.map((part) => part.replaceAll('-', '_'));
  return escaped.map((_, index) => `/${escaped.slice(0, index + 1).join('-')}.slice`).join('');
}

function uidOfSlice(name: string): string | undefined {
  return /-pod([^-]+)\.slice$/.exec(name)?.[1]?.replaceAll('_', '-');
}
