import { type Filter, unschedulable } from './filter.ts';

const reason = "node(s) didn't match the requested node name";

export const nodeName: Filter = {
  name: 'NodeName',
  reasons: { [reason]: unschedulable('the pod names another node', 'take spec.nodeName out of the pod, or name a node that exists') },
  reject(pod, room) {
    const wanted = pod.pod.spec?.nodeName ?? '';
    return wanted === '' || wanted === room.node.metadata.name ? [] : [{ reason, helpedByPreemption: false }];
  },
};
