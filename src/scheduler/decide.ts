import type { Rejection } from './filter/filter.ts';
import { rejectionsOf } from './filter/filters.ts';
import { type NodeRoom, nodeRoom } from './node-room.ts';
import type { PodDemand } from './pod-demand.ts';
import { best } from './score/scores.ts';

export type Decision =
  | { readonly kind: 'assigned'; readonly nodeName: string }
  /** `message` is upstream's text: of the event, and of the pod's condition. */
  | { readonly kind: 'unschedulable'; readonly message: string };

/** Which node a pod is for. Pure; the same cluster gives the same answer. */
export function decide(pod: PodDemand, rooms: readonly NodeRoom[]): Decision {
  if (rooms.length === 0) return { kind: 'unschedulable', message: 'no nodes available to schedule pods' };
  const tried = rooms.map((room) => ({ room, rejections: rejectionsOf(pod, room) }));
  const chosen = best(
    pod,
    tried.filter(({ rejections }) => rejections.length === 0).map(({ room }) => room),
  );
  if (chosen !== undefined) return { kind: 'assigned', nodeName: chosen.node.metadata.name };
  const filtered = summary(tried.map(({ rejections }) => rejections.map(({ reason }) => reason)));
  return { kind: 'unschedulable', message: `${filtered} preemption: ${preemptionText(pod, tried)}` };
}

interface Tried {
  readonly room: NodeRoom;
  readonly rejections: readonly Rejection[];
}

/** Says whether taking pods of lower priority away would help. It is not done: preemption is not implemented. */
function preemptionText(pod: PodDemand, tried: readonly Tried[]): string {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  return summary(tried.map((one) => preemptionOf(pod, one)));
}

function preemptionOf(pod: PodDemand, { room, rejections }: Tried): readonly string[] {
  if (rejections.some(({ helpedByPreemption }) => !helpedByPreemption)) return ['Preemption is not helpful for scheduling'];
  const staying = room.pods.filter((other) => other.priority >= pod.priority);
  if (staying.length === room.pods.length) return ['No preemption victims found for incoming pod'];
  const left = rejectionsOf(pod, nodeRoom(room.node, staying));
  return left.length > 0 ? left.map(({ reason }) => reason) : ['Preemption would help, but this scheduler does not preempt'];
}

/** `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.` @param reasons of each node */
function summary(reasons: readonly (readonly string[])[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${reasons.length} nodes are available: ${parts.join(', ')}.`;
}
