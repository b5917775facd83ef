import { findConflict } from '#api/pod/host-ports.ts';
import { type Filter, unschedulable } from './filter.ts';

const reason = "node(s) didn't have free ports for the requested pod ports";

export const nodePorts: Filter = {
  name: 'NodePorts',
  reasons: { [reason]: unschedulable('another pod has the hostPort on that node', 'take another hostPort, or remove the pod that has it') },
  reject: (pod, room) => (findConflict(pod.ports, room.ports) === undefined ? [] : [{ reason, helpedByPreemption: true }]),
};
