import type { NodeRoom } from '../node-room.ts';
import type { PodDemand } from '../pod-demand.ts';

/** How good each of several nodes, all of which would do, is for a pod. Pure. */
export interface Score {
  /** Upstream's name of the plugin. */
  readonly name: string;
  readonly weight: number;
  /** 0..100 for each room, in their order. */
  rate(pod: PodDemand, rooms: readonly NodeRoom[]): readonly number[];
}

/** Stretches what is not negative to 0..100; all 0 stay 0. */
export function normalized(raw: readonly number[]): readonly number[] {
  const most = Math.max(0, ...raw);
  return raw.map((value) => (most === 0 ? 0 : Math.floor((100 * value) / most)));
}
