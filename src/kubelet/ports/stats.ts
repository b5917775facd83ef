/** One reading of a counter or gauge; absent where the host cannot tell. */
type Reading = number | undefined;

export interface FilesystemUsage {
  readonly atMs: number;
  readonly capacityBytes: Reading;
  readonly availableBytes: Reading;
  readonly usedBytes: Reading;
  readonly inodes: Reading;
  readonly inodesFree: Reading;
  readonly inodesUsed: Reading;
}

export interface CpuUsage {
  readonly atMs: number;
  /** Nanoseconds of CPU time since the cgroup began. */
  readonly totalNanos: Reading;
  /** Billionths of a core, over the last two readings. */
  readonly nanoCores: Reading;
}

export interface MemoryUsage {
  readonly atMs: number;
  /** Of the limit where there is one, else of the node. */
  readonly availableBytes: Reading;
  readonly usageBytes: Reading;
  /** Usage without inactive file pages: what eviction and `kubectl top` look at. */
  readonly workingSetBytes: Reading;
  readonly rssBytes: Reading;
  readonly pageFaults: Reading;
  readonly majorPageFaults: Reading;
}

export interface ProcessUsage {
  readonly atMs: number;
  readonly running: Reading;
  readonly max: Reading;
}

export type FilesystemLayout = 'one' | 'images-apart' | 'split';

export interface NodeUsage {
  readonly startedAtMs: number;
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
  readonly memoryCapacityBytes: number;
  readonly processes: ProcessUsage;
  /** File system of the kubelet's root. */
  readonly nodeFs: FilesystemUsage;
  /** File systems of the runtime's images and of its containers' writable layers; the same one unless the runtime says otherwise. */
  readonly imageFs: FilesystemUsage;
  readonly containerFs: FilesystemUsage;
  /** Which of the three are the same: all; the latter two (`images-apart`); the first and the last (`split`). */
  readonly layout: FilesystemLayout;
  /** Of all pods together, below the cluster's cgroup root. */
  readonly podsMemory: MemoryUsage;
}

export interface ContainerUsage {
  readonly name: string;
  readonly startedAtMs: number;
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
  readonly rootFs: FilesystemUsage;
  readonly logs: FilesystemUsage;
}

export interface VolumeUsage extends FilesystemUsage {
  readonly name: string;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
}

export interface PodUsage {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly startedAtMs: number;
  readonly containers: readonly ContainerUsage[];
  readonly cpu: CpuUsage;
  readonly memory: MemoryUsage;
  readonly volumes: readonly VolumeUsage[];
  /** Writable layers, logs and local volumes together. */
  readonly ephemeralStorage: FilesystemUsage;
  readonly processCount: Reading;
}

/** What the node, its pods and their containers use. */
export interface StatsPort {
  /** @throws {Unavailable} when the runtime does not answer */
  node(signal: AbortSignal): Promise<NodeUsage>;
  /** Every pod with a sandbox. @throws {Unavailable} when the runtime does not answer */
  pods(signal: AbortSignal): Promise<readonly PodUsage[]>;
}
