import type { ContainerUsage, FilesystemUsage, MemoryUsage, NodeUsage, PodUsage, StatsPort, VolumeUsage } from '../../ports/stats.ts';

const atMs = 0;

export function aFilesystem(given: Partial<FilesystemUsage> = {}): FilesystemUsage {
  const empty = { capacityBytes: undefined, availableBytes: undefined, usedBytes: undefined, inodes: undefined, inodesFree: undefined };
  return { atMs, ...empty, inodesUsed: undefined, ...given };
}

export function aMemory(given: Partial<MemoryUsage> = {}): MemoryUsage {
  const empty = { usageBytes: undefined, rssBytes: undefined, pageFaults: undefined, majorPageFaults: undefined };
  return { atMs, availableBytes: undefined, workingSetBytes: undefined, ...empty, ...given };
}

const cpu = { atMs, totalNanos: undefined, nanoCores: undefined };

export function aContainerUse(name: string, memoryBytes: number, rootFsBytes = 0, logBytes = 0): ContainerUsage {
  const rootFs = aFilesystem({ usedBytes: rootFsBytes, inodesUsed: 10 });
  const logs = aFilesystem({ usedBytes: logBytes, inodesUsed: 1 });
  return { name, startedAtMs: 0, cpu, memory: aMemory({ workingSetBytes: memoryBytes }), rootFs, logs };
}

export function aVolumeUse(name: string, usedBytes: number): VolumeUsage {
  return { ...aFilesystem({ usedBytes, inodesUsed: 1 }), name, claim: undefined };
}

/** What a pod uses: of memory all that its containers use, of local storage all that its containers and volumes use. */
export function aPodUse(uid: string, given: Partial<PodUsage> = {}): PodUsage {
  const { containers = [], volumes = [] } = given;
  const memoryBytes = containers.reduce((sum, { memory }) => sum + (memory.workingSetBytes ?? 0), 0);
  const files = [...containers.flatMap(({ rootFs, logs }) => [rootFs, logs]), ...volumes];
  const usedBytes = files.reduce((sum, one) => sum + (one.usedBytes ?? 0), 0);
  return {
    uid,
    namespace: 'default',
    name: uid,
    startedAtMs: 0,
    containers,
    cpu,
    memory: aMemory({ workingSetBytes: memoryBytes }),
    volumes,
    ephemeralStorage: aFilesystem({ usedBytes }),
    processCount: 1,
    ...given,
  };
}

export const gi = 2 ** 30;
export const mi = 2 ** 20;

export function aNodeUse(given: Partial<NodeUsage> = {}, now = 0): NodeUsage {
  const disk = aFilesystem({ atMs: now, capacityBytes: 100 * gi, availableBytes: 50 * gi, inodes: 1000, inodesFree: 900 });
  return {
    startedAtMs: 0,
    cpu,
    memory: aMemory({ atMs: now, availableBytes: 8 * gi, workingSetBytes: 8 * gi }),
    memoryCapacityBytes: 16 * gi,
    processes: { atMs: now, running: 200, max: 1000 },
    nodeFs: disk,
    imageFs: disk,
    containerFs: disk,
    layout: 'one',
    podsMemory: aMemory({ atMs: now, availableBytes: 8 * gi, workingSetBytes: 6 * gi }),
    ...given,
  };
}

/** Stats whose values the test decides. */
export class MemoryStats implements StatsPort {
  nodeUsage: NodeUsage = aNodeUse();
  podUsages: readonly PodUsage[] = [];

  async node(): Promise<NodeUsage> {
    return this.nodeUsage;
  }

  async pods(): Promise<readonly PodUsage[]> {
    return this.podUsages;
  }
}
