import { findUntolerated } from '#api/pod/taints.ts';
import { type Filter, unschedulable } from './filter.ts';

const reason = 'node(s) had untolerated taint(s)';

export const taintToleration: Filter = {
  name: 'TaintToleration',
  reasons: {
    [reason]: unschedulable(
      'the node has a taint that the pod does not tolerate; a node that is not ready or not reachable has one too',
      'kubectl describe node shows the taints: take them off, wait until the node is ready, or add a toleration to the pod',
    ),
  },
  reject(pod, room) {
    const taint = findUntolerated(room.node.spec?.taints, pod.pod.spec?.tolerations, ['NoSchedule', 'NoExecute']);
    return taint === undefined ? [] : [{ reason, helpedByPreemption: false }];
  },
};
