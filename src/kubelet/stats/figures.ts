import type { ContainerUsage, CpuUsage, FilesystemUsage, MemoryUsage, NodeUsage, PodUsage } from '../ports/stats.ts';
import type { CgroupUsage, FilesystemRoom, InterfaceUsage, Reading } from '../ports/usage.ts';

export interface SwapUsage {
  readonly atMs: number;
  readonly usedBytes: Reading;
  readonly availableBytes: Reading;
  readonly limitBytes: Reading;
}

export interface NetworkUsage {
  readonly atMs: number;
  readonly interfaces: readonly InterfaceUsage[];
}

type Stalls = CgroupUsage['pressure'];

/** What costs next to nothing to find out: CPU, memory and what the kernel counts with them. */
export interface Compute {
  readonly startedAtMs: number;
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
  readonly swap: SwapUsage;
  readonly pressure: Stalls;
}

export interface NodeCompute extends Compute {
  readonly memoryCapacityBytes: number;
  /** Of all pods together. */
  readonly pods: Compute;
  /** Of this process, unless it shares its cgroup with the whole host. */
  readonly kubelet?: Compute | undefined;
}

export interface ContainerCompute extends Compute {
  readonly id: string;
  readonly name: string;
}

export interface PodCompute extends Compute {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly ContainerCompute[];
  readonly processCount: Reading;
}

export interface NodeFigures extends NodeUsage, NodeCompute {
  readonly network: NetworkUsage;
}

export interface ContainerFigures extends ContainerUsage, ContainerCompute {
  readonly name: string;
  readonly startedAtMs: number;
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
}

export interface PodFigures extends PodUsage, PodCompute {
  readonly containers: readonly ContainerFigures[];
  readonly network: NetworkUsage;
}

export const noPressure: Stalls = { cpu: undefined, memory: undefined, io: undefined };

export function cpuUsage(cgroup: CgroupUsage | undefined, atMs: number, nanoCores: Reading): CpuUsage {
  return { atMs, totalNanos: cgroup?.cpu.totalNanos, nanoCores };
}

/** @param capacityBytes the limit of a cgroup that has none of its own */
export function memoryUsage(cgroup: CgroupUsage | undefined, atMs: number, capacityBytes?: number): MemoryUsage {
  const { usageBytes, inactiveFileBytes = 0, limitBytes, rssBytes, pageFaults, majorPageFaults } = cgroup?.memory ?? {};
  const workingSetBytes = usageBytes === undefined ? undefined : Math.max(0, usageBytes - inactiveFileBytes);
  const bound = limitBytes ?? capacityBytes;
  const availableBytes = bound === undefined || workingSetBytes === undefined ? undefined : Math.max(0, bound - workingSetBytes);
  return { atMs, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
}

export function swapUsage(cgroup: CgroupUsage | undefined, atMs: number, hostBytes: number): SwapUsage {
  const { swapBytes: usedBytes, swapLimitBytes } = cgroup?.memory ?? {};
  const limitBytes = Math.min(swapLimitBytes ?? hostBytes, hostBytes);
  const availableBytes = usedBytes === undefined ? undefined : Math.max(0, limitBytes - usedBytes);
  return { atMs, usedBytes, availableBytes, limitBytes };
}

/** The file system as a whole. */
export function roomUsage(room: FilesystemRoom | undefined, atMs: number): FilesystemUsage {
  return {
    atMs,
    capacityBytes: room?.capacityBytes,
    availableBytes: room?.availableBytes,
    usedBytes: room === undefined ? undefined : room.capacityBytes - room.freeBytes,
    inodes: room?.inodes,
    inodesFree: room?.inodesFree,
    inodesUsed: room === undefined ? undefined : room.inodes - room.inodesFree,
  };
}

/** What one thing uses of a file system that has more in it. */
export function partUsage(
  whole: FilesystemUsage,
  part: { readonly usedBytes: Reading; readonly inodesUsed: Reading; readonly atMs?: number },
): FilesystemUsage {
  return { ...whole, ...part };
}

/** Without those that carry what others count already: ends of pods' links, and docker's. Source: cAdvisor's list. */
export function countedInterfaces(interfaces: readonly InterfaceUsage[]): readonly InterfaceUsage[] {
  return interfaces.filter(({ name }) => !/^(veth|docker|nerdctl)/.test(name));
}

/** @returns undefined when none of them is known */
export function sum(readings: readonly Reading[]): Reading {
  const known = readings.filter((reading) => reading !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, reading) => total + reading, 0);
}
