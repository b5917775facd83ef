import type { ContainerImage, NodeAddress, NodeStatus } from '#api/types/core-v1.ts';
import type { Image, VersionResponse } from '#wire/generated/cri.ts';
import type { FilesystemFacts, HostFacts } from '../ports/host.ts';
import type { HardEvictionThresholds, ReservedResources } from '../resources/node-budget.ts';
import { type NodeHealth, nodeConditions } from './node-conditions.ts';
import {
  amountsOf,
  type DeviceAmounts,
  foreignResources,
  keptAllocatable,
  nodeAllocatable,
  nodeCapacity,
  type ResourceList,
} from './node-resources.ts';
import type { RuntimeState } from './runtime-state.ts';

/** What a node's status is made of. */
export interface NodeFacts {
  readonly host: HostFacts;
  readonly filesystem: FilesystemFacts;
  /** Under which others reach the node: one, or one of each family. */
  readonly addresses: readonly string[];
  readonly hostname: string;
  readonly kubeletPort: number;
  readonly kubeletVersion: string;
  /** `undefined`: the runtime did not answer. */
  readonly runtimeVersion: VersionResponse | undefined;
  /** As the runtime called itself last; '': it never answered. */
  readonly runtimeName: string;
  readonly images: readonly Image[];
  readonly runtime: RuntimeState;
  readonly pressures: Omit<NodeHealth, 'problems'>;
  /** What plugins add to the node; absent: nothing. */
  readonly devices?: DeviceAmounts;
  /** The kubelet is about to stop together with the host. */
  readonly isShuttingDown: boolean;
}

export interface NodeSettings {
  readonly maxPods: number;
  readonly reserved: ReservedResources;
  readonly thresholds: HardEvictionThresholds;
  /** -1: all. */
  readonly maxImages: number;
  /** false: the node's file system is nothing that pods are given a part of. */
  readonly countsStorage: boolean;
  /** A controller of the cloud says which addresses the node has. */
  readonly hasExternalCloud: boolean;
  /** Somebody said which addresses the node has. */
  readonly isAddressGiven: boolean;
}

/**
 * The status of the node as it is now.
 *
 * @param before what the API server has: what others put there stays
 * @param now RFC 3339
 */
export function nodeStatus(facts: NodeFacts, settings: NodeSettings, before: NodeStatus, now: string): NodeStatus {
  const { host, filesystem } = facts;
  const { maxPods, reserved, thresholds } = settings;
  const counted = ({ 'ephemeral-storage': storage = '', ...others }: ResourceList): ResourceList =>
    settings.countsStorage ? { ...others, 'ephemeral-storage': storage } : others;
  const devices = facts.devices ?? {};
  const own = { ...amountsOf(devices, 'capacity'), ...counted(nodeCapacity(host, filesystem, maxPods)) };
  const foreign = foreignResources(before.capacity ?? {}, own);
  return {
    ...before,
    addresses: nodeAddresses(facts, settings, before.addresses ?? []),
    capacity: { ...foreign, ...own },
    allocatable: {
      ...keptAllocatable(before.allocatable ?? {}, { ...foreign, ...own }),
      ...foreign,
      ...amountsOf(devices, 'allocatable'),
      ...counted(nodeAllocatable(host, filesystem, maxPods, reserved, thresholds)),
    },
    nodeInfo: {
      machineID: host.machineId,
      systemUUID: host.systemUuid,
      bootID: host.bootId,
      kernelVersion: host.kernelVersion,
      osImage: host.osImage,
      containerRuntimeVersion: runtimeVersionText(facts),
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: host.architecture,
      ...(host.swapBytes > 0 ? { swap: { capacity: host.swapBytes } } : {}),
    },
    daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
    images: nodeImages(facts.images, settings.maxImages),
    ...(facts.runtime.handlers.length === 0 ? {} : { runtimeHandlers: runtimeHandlers(facts.runtime) }),
    ...(facts.runtime.features === undefined ? {} : { features: { supplementalGroupsPolicy: facts.runtime.features.supplementalGroupsPolicy } }),
    conditions: nodeConditions(nodeHealth(facts, settings), before.conditions ?? [], now),
  };
}

export function nodeHealth(facts: NodeFacts, { countsStorage }: Pick<NodeSettings, 'countsStorage'>): NodeHealth {
  const missing = [
    ...(facts.host.cpus > 0 ? [] : ['cpu']),
    ...(facts.host.memoryBytes > 0 ? [] : ['memory']),
    ...(facts.filesystem.capacityBytes > 0 || !countsStorage ? [] : ['ephemeral-storage']),
  ];
  return {
    problems: [
      facts.runtime.runtimeProblem,
      facts.runtime.networkProblem,
      facts.isShuttingDown ? 'node is shutting down' : '',
      missing.length === 0 ? '' : `missing node capacity for resources: ${missing.join(', ')}`,
    ],
    ...facts.pressures,
  };
}

/** The most that a list of one image's names may have: upstream's number. */
const maxImageNames = 5;

/** The biggest first; digests before tags. */
export function nodeImages(images: readonly Image[], max: number): readonly ContainerImage[] {
  const named = images.filter((image) => image.repoDigests.length + image.repoTags.length > 0);
  const sorted = [...named].sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1));
  const kept = max < 0 ? sorted : sorted.slice(0, max);
  return kept.map(({ repoDigests, repoTags, size }) => ({ names: [...repoDigests, ...repoTags].slice(0, maxImageNames), sizeBytes: size }));
}

/** With a cloud's controller the addresses are its affair: what it has said stays, until then there are those that somebody gave. */
function nodeAddresses(facts: NodeFacts, settings: NodeSettings, before: readonly NodeAddress[]): readonly NodeAddress[] {
  if (settings.hasExternalCloud && before.length > 0) return before;
  const isKnown = !settings.hasExternalCloud || settings.isAddressGiven;
  const internal = isKnown ? facts.addresses.map((address): NodeAddress => ({ type: 'InternalIP', address })) : [];
  return [...internal, { type: 'Hostname', address: facts.hostname }];
}

function runtimeVersionText({ runtimeVersion: version, runtimeName }: NodeFacts): string {
  return version === undefined ? `${runtimeName || 'unknown'}://Unknown` : `${version.runtimeName}://${version.runtimeVersion}`;
}

function runtimeHandlers(runtime: RuntimeState): NonNullable<NodeStatus['runtimeHandlers']> {
  const sorted = [...runtime.handlers].sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.map(({ name, features }) => ({
    name,
    ...(features === undefined
      ? {}
      : { features: { recursiveReadOnlyMounts: features.recursiveReadOnlyMounts, userNamespaces: features.userNamespaces } }),
  }));
}
