import type { Container, Pod } from '#api/types/core-v1.ts';
import type { ContainerAllocation } from '../ports/allocations.ts';

/** Memory nodes (NUMA) that would do; bit n is node n. */
export interface TopologyHint {
  readonly nodes: number;
  readonly preferred: boolean;
}

/** By resource. A resource without an entry may be anywhere; an empty list: nowhere. */
export type TopologyHints = ReadonlyMap<string, readonly TopologyHint[]>;

/** A container could not get what it asks for; the pod is refused with this. */
export interface AllocationRefusal {
  /** Upstream's word where it has one; else `UnexpectedAdmissionError`. */
  readonly reason: string;
  readonly message: string;
}

/** One who gives containers something that no two may have. */
export interface AllocationProvider {
  hints(pod: Pod, container: Container): TopologyHints;
  /**
   * Idempotent: a container that has its share already keeps it, also after a restart of the kubelet.
   *
   * @param hint where the share should be; `undefined`: anywhere
   */
  allocate(pod: Pod, container: Container, hint: TopologyHint | undefined, signal: AbortSignal): Promise<AllocationRefusal | undefined>;
  /** Just before the container is made: its part of the config. @throws when the start is refused */
  prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<Partial<ContainerAllocation> | undefined>;
  /** Whether the pod has something of it. */
  holds(podUid: string): boolean;
  release(podUid: string): void;
  /** What it adds to the node. */
  resources?(): Readonly<Record<string, { readonly capacity: number; readonly allocatable: number }>>;
}

/** Chooses one hint from those of all providers, which are asked only if they matter, or refuses. */
export type Align = (hints: () => readonly TopologyHints[]) => TopologyHint | AllocationRefusal | undefined;
