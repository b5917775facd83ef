import type { Clock } from '#base/clock.ts';
import type { ClusterObjects } from '../objects/cluster-objects.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { type ContainerResourceFacts, containerResources } from '../resources/container-resources.ts';
import type { NodeConfig } from './node-config.ts';
import { sandboxResources } from './sandbox-resources.ts';
import type { HandlerFeatures } from './user-namespaces.ts';

export interface NodeConfigDeps {
  readonly clusterDomain: string;
  readonly nodeAddress: string;
  readonly seccompDefault: boolean;
  readonly userIdsPerPod: number;
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly resources: ContainerResourceFacts;
  readonly objects: Pick<ClusterObjects, 'services'>;
  readonly files: Pick<FilesPort, 'list' | 'stat'>;
  readonly runtime: Pick<RuntimePort, 'version'>;
  /** What the runtime says of its handlers. */
  readonly handlers: () => readonly { readonly name: string; readonly features: HandlerFeatures | undefined }[];
  readonly allocations?: Pick<AllocationsPort, 'prepare'> | undefined;
  readonly clock: Clock;
}

export function createNodeConfig(deps: NodeConfigDeps): NodeConfig {
  const { clusterDomain, seccompDefault, userIdsPerPod, allocatable, resources, objects, allocations } = deps;
  let masked: readonly string[] | undefined;
  return {
    clusterDomain,
    userIdsPerPod,
    allocatable,
    hostIPs: () => [deps.nodeAddress],
    resourcesOf: (pod, container) => containerResources(pod, container, resources),
    sandboxResourcesOf: (pod) => sandboxResources(pod, resources),
    services: (pod, signal) => objects.services(pod, signal),
    featuresOf: (handler) => deps.handlers().find(({ name }) => name === handler)?.features,
    imageVolumesProblem: async (signal) => imageVolumesProblem(await deps.runtime.version(signal)),
    async security(signal) {
      masked ??= await thermalFiles(deps.files, signal);
      return { seccompDefault, maskedOnNode: masked };
    },
    prepareAllocation: async (pod, container, signal) => allocations?.prepare(pod, container, signal),
  };
}

const firstWithImageVolumes = [2, 1] as const;

/** Runtimes do not say whether they can: older ones of containerd make something else of the request. Source: containerd's release notes. */
export function imageVolumesProblem({ runtimeName, runtimeVersion }: { readonly runtimeName: string; readonly runtimeVersion: string }): string {
  if (runtimeName !== 'containerd') return '';
  const [major = 0, minor = 0] = runtimeVersion.replace(/^v/, '').split('.').map(Number);
  const isAble = major > firstWithImageVolumes[0] || (major === firstWithImageVolumes[0] && minor >= firstWithImageVolumes[1]);
  return isAble ? '' : `containerd ${runtimeVersion} cannot mount images: ${firstWithImageVolumes.join('.')} and newer can`;
}

const cpuFolder = '/sys/devices/system/cpu';

/** How hot a processor is tells what others do on it. */
async function thermalFiles(files: Pick<FilesPort, 'list' | 'stat'>, signal: AbortSignal): Promise<readonly string[]> {
  const cpus = (await files.list(cpuFolder, signal)).filter(({ name }) => /^cpu\d+$/.test(name));
  const paths = cpus.map(({ name }) => `${cpuFolder}/${name}/thermal_throttle`);
  const present = await Promise.all(paths.map((path) => files.stat(path, signal)));
  return paths.filter((_path, index) => present[index] !== undefined);
}
