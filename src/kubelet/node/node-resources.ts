import type { FilesystemFacts, HostFacts } from '../ports/host.ts';

/** What is kept back from pods. */
export interface ReservedResources {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
}

export const nothingReserved: ReservedResources = { cpuMilli: 0, memoryBytes: 0, ephemeralStorageBytes: 0 };

/** Below this the kubelet would have to evict pods, so pods are not promised it. */
export interface HardEvictionThresholds {
  readonly memoryAvailableBytes: number;
  readonly filesystemAvailablePercent: number;
}

/** Upstream's defaults. */
export const defaultThresholds: HardEvictionThresholds = { memoryAvailableBytes: 100 * 1024 * 1024, filesystemAvailablePercent: 10 };

export type ResourceList = Readonly<Record<string, string>>;

export function nodeCapacity(facts: HostFacts, filesystem: Pick<FilesystemFacts, 'capacityBytes'>, maxPods: number): ResourceList {
  const hugepages = facts.hugepages.map(({ sizeBytes, pages }) => [hugepageName(sizeBytes), quantity(sizeBytes * pages)] as const);
  return {
    cpu: String(facts.cpus),
    memory: quantity(facts.memoryBytes),
    'ephemeral-storage': quantity(filesystem.capacityBytes),
    pods: String(maxPods),
    ...Object.fromEntries(hugepages),
  };
}

/** Capacity without what is reserved, what eviction keeps free, and (memory) what huge pages hold. */
export function nodeAllocatable(
  facts: HostFacts,
  filesystem: Pick<FilesystemFacts, 'capacityBytes'>,
  maxPods: number,
  reserved: ReservedResources,
  thresholds: HardEvictionThresholds,
): ResourceList {
  const hugepageBytes = facts.hugepages.reduce((sum, { sizeBytes, pages }) => sum + sizeBytes * pages, 0);
  const memory = Math.max(0, Math.max(0, facts.memoryBytes - reserved.memoryBytes - thresholds.memoryAvailableBytes) - hugepageBytes);
  const storageKept = Math.floor((filesystem.capacityBytes * thresholds.filesystemAvailablePercent) / 100);
  const cpuMilli = Math.max(0, facts.cpus * 1000 - reserved.cpuMilli);
  return {
    ...nodeCapacity(facts, filesystem, maxPods),
    cpu: cpuMilli % 1000 === 0 ? String(cpuMilli / 1000) : `${cpuMilli}m`,
    memory: quantity(memory),
    'ephemeral-storage': quantity(Math.max(0, filesystem.capacityBytes - reserved.ephemeralStorageBytes - storageKept)),
  };
}

/** `hugepages-2Mi` */
function hugepageName(sizeBytes: number): string {
  const mebibytes = sizeBytes / 1024 / 1024;
  if (mebibytes < 1) return `hugepages-${sizeBytes / 1024}Ki`;
  return mebibytes % 1024 === 0 ? `hugepages-${mebibytes / 1024}Gi` : `hugepages-${mebibytes}Mi`;
}

/** Bytes as upstream prints them: in the largest binary unit that divides them; most memory sizes are in Ki. */
function quantity(bytes: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  let value = bytes;
  let unit = 0;
  while (value !== 0 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value}${units[unit]}`;
}
