import type { Container, Pod } from '#api/types/core-v1.ts';

/** What the managers of devices, CPUs and memory gave a container; part of its config. */
export interface ContainerAllocation {
  /** `0-2,7`; absent: no set of its own. */
  readonly cpus?: string | undefined;
  readonly memoryNodes?: string | undefined;
  readonly devices: readonly { readonly containerPath: string; readonly hostPath: string; readonly permissions: string }[];
  readonly mounts: readonly { readonly containerPath: string; readonly hostPath: string; readonly readOnly: boolean }[];
  readonly envs: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly cdiDevices: readonly string[];
}

export type AllocationAnswer = { readonly admitted: true } | { readonly admitted: false; readonly reason: string; readonly message: string };

/** Devices, exclusive CPUs and memory nodes: who has which. */
export interface AllocationsPort {
  /** Once a pod, after every other question of admission; idempotent. A refused pod holds nothing. */
  allocate(pod: Pod, signal: AbortSignal): Promise<AllocationAnswer>;
  /** Just before the container is made. @throws when a plugin refuses the start */
  prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerAllocation | undefined>;
  release(podUid: string): void;
  /** Resources that plugins add to the node, by name. */
  readonly resources: () => Readonly<Record<string, { readonly capacity: number; readonly allocatable: number }>>;
}
