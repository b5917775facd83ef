import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { CgroupsPort } from '../ports/cgroups.ts';
import type { HostFacts } from '../ports/host.ts';
import type { PodCgroupsPort } from '../ports/pod-cgroups.ts';
import { chooseCgroupDriver } from './cgroup-driver.ts';
import { type CgroupDriver, type CgroupNames, cgroupNames, systemdPath } from './cgroup-names.ts';
import { type NodeCgroupOptions, nodeCgroupOptions } from './cgroup-options.ts';
import { checkBudget, type NodeBudget, nodeBudget } from './node-budget.ts';
import { createPodCgroups, type PodCgroups } from './pod-cgroups.ts';
import type { PodResizer } from './resize/pod-resizer.ts';
import { slicedCgroups } from './sliced-cgroups.ts';

/** The node's cgroups as configuration, host and runtime want them. */
export interface NodeCgroups {
  readonly budget: NodeBudget;
  readonly options: NodeCgroupOptions;
  readonly names: CgroupNames;
  readonly pods: PodCgroups;
  /** What they are made with. */
  readonly host: CgroupsPort;
}

/**
 * Checks what the configuration says of resources and makes the tree in which pods will live.
 *
 * @throws {InvalidInput} in upstream's words when no pod could run as it is configured
 */
export async function createNodeCgroups(
  config: KubeletConfig,
  host: KubeletHost,
  hostFacts: HostFacts,
  events: Pick<EventRecorder, 'emit'>,
  signal: AbortSignal,
): Promise<NodeCgroups> {
  const { configuration, nodeName } = config;
  const budget = nodeBudget(configuration, hostFacts.cpus);
  const options = nodeCgroupOptions(configuration, budget, hostFacts, host.cgroups);
  await host.files.ensureDirectory(config.roots.root, 0o750, signal);
  const [driver, { capacityBytes }] = await Promise.all([
    chooseCgroupDriver(host.runtime, configuration.cgroupDriver, host.clock, signal),
    host.host.filesystem(config.roots.root, signal),
  ]);
  checkBudget(budget, { cpuMilli: hostFacts.cpus * 1000, memoryBytes: hostFacts.memoryBytes, ephemeralStorageBytes: capacityBytes });
  const names = cgroupNames(`${configuration.cgroupRoot}${config.cgroupRoot}`, driver);
  const slices = driver === 'systemd' ? await host.slices() : undefined;
  // Without systemd, as in a container, slices are folders like others.
  const cgroups = slices !== undefined && (await slices.isThere(signal)) ? slicedCgroups(host.cgroups, slices) : host.cgroups;
  await checkRoot(configuration.cgroupRoot, driver, cgroups, signal);
  // The uid of a node's events is its name, by upstream's habit: `kubectl describe` looks for that.
  const node = { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
  const tell = (type: 'Normal' | 'Warning', reason: string, message: string) => events.emit(node, { type, reason, message });
  tellOfSwap(hostFacts, tell);
  const pods = createPodCgroups(cgroups, { ...options, names, logger: host.logger, tell });
  await pods.prepareTree(signal);
  return { budget, options, names, pods, host: cgroups };
}

/** What is in memory for a reason may come to a disk all the same: kernels before 6.4 cannot keep a tmpfs out of swap. */
export function tellOfSwap(
  { swapBytes, kernelVersion }: Pick<HostFacts, 'swapBytes' | 'kernelVersion'>,
  tell: (type: 'Normal' | 'Warning', reason: string, message: string) => void,
): void {
  const [major = 0, minor = 0] = kernelVersion.split('.').map((part) => Number.parseInt(part, 10));
  if (swapBytes === 0 || major > 6 || (major === 6 && minor >= 4)) return;
  const whatMay = 'Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.';
  tell('Warning', 'PossibleMemoryBackedVolumesOnDisk', `The tmpfs noswap option is not supported. ${whatMay}`);
}

/** A root that the configuration names is somebody else's: it is not made. @throws {InvalidInput} */
async function checkRoot(root: string, driver: CgroupDriver, cgroups: CgroupsPort, signal: AbortSignal): Promise<void> {
  const parts = root.split('/').filter((part) => part !== '');
  if (parts.length === 0) return;
  const lack = await cgroups.lack(driver === 'systemd' ? systemdPath(parts) : `/${parts.join('/')}`, signal);
  if (lack !== undefined) throw new InvalidInput({ message: `invalid configuration: ${lack}`, hint: 'make the cgroup, or leave cgroupRoot away' });
}

/** Cgroups of pods, whose tier is weighed anew with each. @param pods those that are not finished, with what they were given */
export function podCgroupsPort(
  podCgroups: PodCgroups,
  resizer: Pick<PodResizer, 'apply'>,
  pods: () => readonly Pod[],
): PodCgroupsPort & { refresh(signal: AbortSignal): Promise<void> } {
  return {
    async ensure(pod, signal) {
      const path = await podCgroups.ensure(pod, signal);
      await podCgroups.updateQos(pods(), signal);
      return path;
    },
    resize: (pod, observed, path, signal) => resizer.apply(pod, observed, path, signal),
    refresh: (signal) => podCgroups.refresh(pods(), signal),
    find: (uid, signal) => podCgroups.find(uid, signal),
    async remove(uid, signal) {
      await podCgroups.remove(uid, signal);
      await podCgroups.updateQos(pods(), signal);
    },
  };
}
