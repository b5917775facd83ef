import { deepEqual } from '#api/deep-equal.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';

/** Whether a node changed in a way that may make a pod fit that did not: a heartbeat does not. */
export function mayHelpWaitingPods(next: Node, previous: Node): boolean {
  return (
    !deepEqual(next.status?.allocatable, previous.status?.allocatable) ||
    !deepEqual(next.metadata.labels, previous.metadata.labels) ||
    !deepEqual(next.spec?.taints, previous.spec?.taints) ||
    (next.spec?.unschedulable ?? false) !== (previous.spec?.unschedulable ?? false) ||
    !deepEqual(conditionStates(next), conditionStates(previous))
  );
}

/** Whether what a pod asks for changed. */
export function asksForSomethingElse(next: Pod, previous: Pod): boolean {
  return !deepEqual(next.spec, previous.spec) || !deepEqual(next.metadata.labels, previous.metadata.labels);
}

export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Whether the scheduler of this name is to find a node for the pod now. */
export function wantsNode(pod: Pod, schedulerName: string): boolean {
  return (
    (pod.spec?.nodeName ?? '') === '' &&
    (pod.spec?.schedulerName ?? 'default-scheduler') === schedulerName &&
    (pod.spec?.schedulingGates ?? []).length === 0 &&
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod)
  );
}

function conditionStates(node: Node): Readonly<Record<string, string>> {
  return Object.fromEntries((node.status?.conditions ?? []).map(({ type, status }) => [type, status]));
}
