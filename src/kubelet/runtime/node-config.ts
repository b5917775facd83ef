import type { Container, Pod } from '#api/types/core-v1.ts';
import type { LinuxContainerResources } from '#wire/generated/cri.ts';
import type { ContainerAllocation } from '../ports/allocations.ts';
import type { SandboxResources } from './sandbox-resources.ts';
import type { SecurityInput } from './security-context.ts';
import type { NamedService } from './service-variables.ts';
import type { HandlerFeatures } from './user-namespaces.ts';

/** What every sandbox and container of the node is configured with. */
export interface NodeConfig {
  readonly clusterDomain: string;
  readonly hostIPs: () => readonly string[];
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly resourcesOf: (pod: Pod, container: Container) => LinuxContainerResources;
  readonly sandboxResourcesOf: (pod: Pod) => SandboxResources;
  /** All that are known. @throws {Unavailable} when they were never read, for pods that come from the API */
  readonly services: (pod: Pod, signal: AbortSignal) => Promise<readonly NamedService[]>;
  /** @returns `undefined` for a handler that the runtime does not name */
  readonly featuresOf: (handler: string) => HandlerFeatures | undefined;
  /** @returns why the runtime cannot mount images, '' if it can */
  readonly imageVolumesProblem: (signal: AbortSignal) => Promise<string>;
  readonly security: (signal: AbortSignal) => Promise<Pick<SecurityInput, 'seccompDefault' | 'maskedOnNode'>>;
  readonly userIdsPerPod: number;
  /** @throws when a device plugin refuses the start */
  readonly prepareAllocation: (pod: Pod, container: Container, signal: AbortSignal) => Promise<ContainerAllocation | undefined>;
}
