import type { Pod, Taint } from '#api/types/core-v1.ts';

/** What the node knows of itself. */
export interface AdmittingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Types of the conditions that hold and mean shortage: `MemoryPressure`, `DiskPressure`, `PIDPressure`. */
  readonly pressures: readonly string[];
  /** Whether the runtime honours `supplementalGroupsPolicy: Strict`. */
  readonly hasSupplementalGroupsPolicy: boolean;
  readonly hasAppArmor: boolean;
  /** As `uname -r` prints it. */
  readonly kernelVersion: string;
  readonly isShuttingDown: boolean;
}

export interface AdmissionInput {
  readonly pod: Pod;
  readonly node: AdmittingNode;
  /** Every other pod of the node that still holds resources: not finished, or finished and still being taken down. */
  readonly otherPods: readonly Pod[];
  /** `name` or `prefix*` (`allowedUnsafeSysctls`). */
  readonly allowedSysctls: readonly string[];
  /** It runs here since before this kubelet: that it may stay is asked, that it may come is not. */
  readonly alreadyRuns?: boolean;
}

/** Why a pod may not run here, in upstream's words. */
export interface Refusal {
  readonly reason: string;
  /** As the event has it; the pod's status has `Pod was rejected: ` before it. */
  readonly message: string;
}

export type Predicate = (input: AdmissionInput) => Refusal | undefined;
