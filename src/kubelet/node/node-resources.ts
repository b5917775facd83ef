import type { FilesystemFacts, HostFacts } from '../ports/host.ts';
import { type HardEvictionThresholds, type ReservedResources, thresholdBytes } from '../resources/node-budget.ts';

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
  const rest = (capacity: number, ...kept: readonly number[]) => kept.reduce((left, part) => Math.max(0, left - part), capacity);
  const memory = rest(facts.memoryBytes, reserved.memoryBytes, thresholdBytes(thresholds.memory, facts.memoryBytes), hugepageBytes);
  const { capacityBytes } = filesystem;
  const storage = rest(capacityBytes, reserved.ephemeralStorageBytes, thresholdBytes(thresholds.ephemeralStorage, capacityBytes));
  const cpuMilli = rest(facts.cpus * 1000, reserved.cpuMilli);
  return {
    ...nodeCapacity(facts, filesystem, maxPods),
    cpu: cpuMilli % 1000 === 0 ? String(cpuMilli / 1000) : `${cpuMilli}m`,
    memory: quantity(memory),
    'ephemeral-storage': quantity(storage),
  };
}

/** Devices by resource. */
export type DeviceAmounts = Readonly<Record<string, { readonly capacity: number; readonly allocatable: number }>>;

export function amountsOf(devices: DeviceAmounts, which: 'capacity' | 'allocatable'): ResourceList {
  return Object.fromEntries(Object.entries(devices).map(([name, amounts]) => [name, String(amounts[which])]));
}

/** What others have announced on this node: it can be given to pods whole. */
export function foreignResources(before: ResourceList, own: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(before).filter(([name]) => !Object.hasOwn(own, name) && !isOurs(name)));
}

/** Allocatable amounts of others, but for extended resources that nobody announces any more. */
export function keptAllocatable(before: ResourceList, capacity: ResourceList): ResourceList {
  const isExtended = (name: string) => name.includes('/') && !name.includes('kubernetes.io/');
  return Object.fromEntries(Object.entries(before).filter(([name]) => !isOurs(name) && (Object.hasOwn(capacity, name) || !isExtended(name))));
}

/** Ours even when there are none now: a page size that the kernel has lost, storage that is not counted. */
function isOurs(name: string): boolean {
  return name === 'ephemeral-storage' || name.startsWith('hugepages-');
}

/** `hugepages-2Mi` */
export function hugepageName(sizeBytes: number): string {
  const mebibytes = sizeBytes / 1024 / 1024;
  if (mebibytes < 1) return `hugepages-${sizeBytes / 1024}Ki`;
  return mebibytes % 1024 === 0 ? `hugepages-${mebibytes / 1024}Gi` : `hugepages-${mebibytes}Mi`;
}

/** Bytes as upstream prints them: in the largest binary unit that divides them; most memory sizes are in Ki. */
export function quantity(bytes: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  let value = bytes;
  let unit = 0;
  while (value !== 0 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value}${units[unit]}`;
}
