import type { NodeRoom } from '../node-room.ts';
import type { PodDemand } from '../pod-demand.ts';
import { leastAllocated } from './least-allocated.ts';
import { preferredAffinity } from './node-affinity.ts';
import type { Score } from './score.ts';
import { preferTolerated } from './taint-toleration.ts';

const scores: readonly Score[] = [preferTolerated, preferredAffinity, leastAllocated];

/** The best room; of equals the first by name, so that the same cluster gives the same answer. @param rooms at least one */
export function best(pod: PodDemand, rooms: readonly NodeRoom[]): NodeRoom | undefined {
  const [only] = rooms;
  if (rooms.length <= 1) return only;
  const ratings = scores.map((score) => ({ weight: score.weight, values: score.rate(pod, rooms) }));
  const rated = rooms.map((room, at) => ({ room, total: ratings.reduce((sum, { weight, values }) => sum + weight * (values[at] ?? 0), 0) }));
  return rated.reduce((leader, one) => (isBetter(one, leader) ? one : leader)).room;
}

interface Rated {
  readonly room: NodeRoom;
  readonly total: number;
}

function isBetter(one: Rated, leader: Rated): boolean {
  return one.total > leader.total || (one.total === leader.total && one.room.node.metadata.name < leader.room.node.metadata.name);
}
