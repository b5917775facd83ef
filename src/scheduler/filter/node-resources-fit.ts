import { type Filter, type Rejection, unschedulable } from './filter.ts';

const tooManyPods = 'Too many pods';
const enough = 'lower the requests of the pod, remove pods from the node, or add a node';

export const nodeResourcesFit: Filter = {
  name: 'NodeResourcesFit',
  reasons: {
    [tooManyPods]: unschedulable('the node has as many pods as it may have', 'remove pods from the node, or add a node'),
    'Insufficient cpu': unschedulable('the CPU that is not requested by other pods is less than the pod requests', enough),
    'Insufficient memory': unschedulable('the memory that is not requested by other pods is less than the pod requests', enough),
    'Insufficient ephemeral-storage': unschedulable('the disk space that is not requested by other pods is less than the pod requests', enough),
    'Insufficient <resource>': unschedulable('the node has less of the extended resource left than the pod requests, or none at all', enough),
  },
  reject(pod, room) {
    const rejections: Rejection[] = [];
    if (room.pods.length + 1 > (room.allocatable.get('pods') ?? 0)) rejections.push({ reason: tooManyPods, helpedByPreemption: true });
    for (const [name, amount] of pod.requests) {
      const whole = room.allocatable.get(name) ?? 0;
      const isTooMuch = amount > whole - (room.requested.get(name) ?? 0);
      if (isTooMuch) rejections.push({ reason: `Insufficient ${name}`, helpedByPreemption: amount <= whole });
    }
    return rejections;
  },
};
