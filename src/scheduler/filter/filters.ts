import type { NodeRoom } from '../node-room.ts';
import type { PodDemand } from '../pod-demand.ts';
import type { Filter, Rejection } from './filter.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { taintToleration } from './taint-toleration.ts';

/** In upstream's order: the first that rejects is the one whose reason is told. */
export const filters: readonly Filter[] = [nodeUnschedulable, nodeName, taintToleration, nodeAffinity, nodePorts, nodeResourcesFit];

/** Why the node is not for the pod; empty when it is. */
export function rejectionsOf(pod: PodDemand, room: NodeRoom): readonly Rejection[] {
  for (const filter of filters) {
    const rejections = filter.reject(pod, room);
    if (rejections.length > 0) return rejections;
  }
  return [];
}
