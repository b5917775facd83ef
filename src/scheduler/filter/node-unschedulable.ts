import { isTolerated } from '#api/pod/taints.ts';
import { type Filter, unschedulable } from './filter.ts';

const reason = 'node(s) were unschedulable';

/** Cordoned nodes take only pods that tolerate it. */
export const nodeUnschedulable: Filter = {
  name: 'NodeUnschedulable',
  reasons: { [reason]: unschedulable('the node is cordoned', 'kubectl uncordon the node, or let the pod tolerate node.kubernetes.io/unschedulable') },
  reject(pod, room) {
    if (room.node.spec?.unschedulable !== true) return [];
    const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
    return isTolerated(taint, pod.pod.spec?.tolerations) ? [] : [{ reason, helpedByPreemption: false }];
  },
};
