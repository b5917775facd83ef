import { deepEqual } from '#api/deep-equal.ts';
import type { Node, NodeCondition, Pod, Taint } from '#api/types/core-v1.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** The conditions that are the kubelet's word, and worth nothing when it is silent. */
const toldByKubelet = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Taints that a condition means while it is True. */
const pressureTaints: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};

/** The taints that are ours; those of others are left alone. */
const managedKeys: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE, 'node.kubernetes.io/unschedulable', ...Object.values(pressureTaints)]);

export function readiness(node: Node): 'True' | 'False' | 'Unknown' {
  const status = condition(node, 'Ready')?.status;
  return status === 'True' || status === 'False' ? status : 'Unknown';
}

/** The conditions of a node whose kubelet is silent; those that say so already are left out. */
export function silentConditions(node: Node, now: string): readonly NodeCondition[] {
  return toldByKubelet.flatMap((type): readonly NodeCondition[] => {
    const present = condition(node, type);
    if (present?.status === 'Unknown') return [];
    const told =
      present === undefined
        ? { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.', lastHeartbeatTime: node.metadata.creationTimestamp }
        : { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.', lastHeartbeatTime: present.lastHeartbeatTime };
    return [{ type, status: 'Unknown', lastTransitionTime: now, ...told }];
  });
}

/** Whether its pods may be driven away: `hold` leaves the `NoExecute` taints as they are, `none` takes them off. */
export type Eviction = 'allowed' | 'hold' | 'none';

/**
 * The taints that a node's conditions ask for, with those of others.
 *
 * @returns `undefined` when they are what the node has
 */
export function planTaints(node: Node, eviction: Eviction, now: string): readonly Taint[] | undefined {
  const present = node.spec?.taints ?? [];
  const wanted = [...noScheduleTaints(node), ...noExecuteTaints(node, eviction)];
  const isWanted = (taint: Taint) => wanted.some((one) => isSameTaint(one, taint));
  const kept = present.filter((taint) => !isManaged(taint) || isWanted(taint));
  const missing = wanted.filter((taint) => !present.some((one) => isSameTaint(one, taint)));
  if (missing.length === 0 && kept.length === present.length) return undefined;
  return [...kept, ...missing.map((taint) => (taint.effect === 'NoExecute' ? { ...taint, timeAdded: now } : taint))];
}

/** Whether a node is to get a `NoExecute` taint that it does not have: what a zone may do only so often. */
export function wantsEviction(node: Node): boolean {
  return !deepEqual(planTaints(node, 'allowed', ''), planTaints(node, 'hold', ''));
}

/** Pods that go on saying that they are ready although their node is silent. */
export function podsToMark(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'));
}

function condition(node: Node, type: string): NodeCondition | undefined {
  return (node.status?.conditions ?? []).find((one) => one.type === type);
}

function noScheduleTaints(node: Node): readonly Taint[] {
  const keys = Object.entries(pressureTaints).flatMap(([type, key]) => (condition(node, type)?.status === 'True' ? [key] : []));
  const unready = unreadyKey(node);
  if (unready !== undefined) keys.push(unready);
  if (node.spec?.unschedulable === true) keys.push('node.kubernetes.io/unschedulable');
  return keys.map((key) => ({ key, effect: 'NoSchedule' }));
}

function noExecuteTaints(node: Node, eviction: Eviction): readonly Taint[] {
  const key = unreadyKey(node);
  if (key === undefined || eviction === 'none') return [];
  const wanted = { key, effect: 'NoExecute' };
  if (eviction === 'allowed') return [wanted];
  // A taint that is there already is swapped for the right one: the node does not get worse by it.
  return (node.spec?.taints ?? []).some((taint) => taint.effect === 'NoExecute' && isUnreadyKey(taint.key)) ? [wanted] : [];
}

/** A node that never said anything about itself is not ready, as far as new pods are concerned. */
function unreadyKey(node: Node): string | undefined {
  if (condition(node, 'Ready') === undefined) return NOT_READY;
  switch (readiness(node)) {
    case 'True':
      return undefined;
    case 'False':
      return NOT_READY;
    case 'Unknown':
      return UNREACHABLE;
  }
}

function isUnreadyKey(key: string): boolean {
  return key === NOT_READY || key === UNREACHABLE;
}

function isManaged(taint: Taint): boolean {
  return (taint.effect === 'NoSchedule' && managedKeys.has(taint.key)) || (taint.effect === 'NoExecute' && isUnreadyKey(taint.key));
}

function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
