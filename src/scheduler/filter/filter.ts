import type { ReasonDoc } from '#startup/reason.ts';
import type { NodeRoom } from '../node-room.ts';
import type { PodDemand } from '../pod-demand.ts';

/** Why a node is not for a pod. */
export interface Rejection {
  /** Upstream's words; counted over the nodes and shown to people. */
  readonly reason: string;
  /** Whether the node would do if other pods went away. */
  readonly helpedByPreemption: boolean;
}

/** One condition that a node must meet for a pod. Pure. */
export interface Filter {
  /** Upstream's name of the plugin. */
  readonly name: string;
  /** The reasons that it may give. */
  readonly reasons: Readonly<Record<string, ReasonDoc>>;
  /** Empty: the node meets it. */
  reject(pod: PodDemand, room: NodeRoom): readonly Rejection[];
}

/** What every reason of a filter has in common. */
export function unschedulable(meaning: string, mend: string): ReasonDoc {
  return { event: 'FailedScheduling', severity: 'Warning', meaning, mend };
}
