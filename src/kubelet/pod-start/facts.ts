import type { Pod } from '#api/types/core-v1.ts';
import type { BlockedStart } from '../ports/pod-runtime.ts';
import type { MountedVolume } from '../ports/volumes.ts';
import type { PodActions, ProbeVerdicts } from '../runtime/pod-actions.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';

/** What is known before the first step. */
export interface PodFacts {
  readonly pod: Pod;
  readonly observed: PodRuntimeState;
  readonly verdicts: ProbeVerdicts;
}

export interface AdmissionFact {
  readonly admission: 'admitted';
  /** In the place of the one from the API: with the CPU and memory that it was given. */
  readonly pod: Pod;
}

export interface CgroupFact {
  readonly cgroupPath: string;
}

export interface DirectoryFact {
  readonly podDir: string;
}

export interface VolumeFact {
  readonly mountedVolumes: ReadonlyMap<string, MountedVolume>;
}

export interface ActionsFact {
  readonly actions: PodActions;
}

export interface SandboxFact {
  readonly sandboxId: string;
}

export interface AddressFact {
  /** Primary first. Empty for a pod in the node's network. */
  readonly podIPs: readonly string[];
}

export interface InitFact {
  /** By name. */
  readonly initStates: Readonly<Record<string, 'done' | 'running'>>;
}

export interface BesideFact {
  /** Sidecars and ephemeral containers that could not be started: the others do not wait for them, but they are tried again. */
  readonly blockedBeside: readonly BlockedStart[];
}

export interface ContainerFact {
  /** Name to the runtime's id, of all that were started or run. */
  readonly containerStates: Readonly<Record<string, string>>;
}
