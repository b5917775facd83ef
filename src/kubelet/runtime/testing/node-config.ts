import { LinuxContainerResources } from '#wire/generated/cri.ts';
import type { NodeConfig } from '../node-config.ts';

/** A node on which nothing is special. */
export function aNodeConfig(overrides: Partial<NodeConfig> = {}): NodeConfig {
  return {
    clusterDomain: 'cluster.local',
    hostIPs: () => ['192.168.0.1'],
    allocatable: () => ({}),
    resourcesOf: () => LinuxContainerResources.create({}),
    sandboxResourcesOf: () => ({ resources: LinuxContainerResources.create({}), overhead: LinuxContainerResources.create({}) }),
    services: async () => [],
    featuresOf: () => undefined,
    imageVolumesProblem: async () => '',
    security: async () => ({ seccompDefault: false, maskedOnNode: [] }),
    userIdsPerPod: 65_536,
    prepareAllocation: async () => undefined,
    ...overrides,
  };
}
