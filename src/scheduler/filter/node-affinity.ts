import { matchesNode } from '#api/pod/node-selector.ts';
import { type Filter, unschedulable } from './filter.ts';

const reason = "node(s) didn't match Pod's node affinity/selector";

export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  reasons: {
    [reason]: unschedulable(
      "the node does not have the labels that the pod's nodeSelector or required node affinity asks for",
      'label a node (kubectl label node), or change the pod',
    ),
  },
  reject: (pod, room) => (matchesNode(pod.pod, room.node) ? [] : [{ reason, helpedByPreemption: false }]),
};
