/** One reading of a counter or gauge; absent where the kernel does not tell. */
export type Reading = number | undefined;

/** What the kernel counts for a cgroup and all below it. */
export interface CgroupUsage {
  /** When the cgroup was made; of the root: when the host was started. */
  readonly startedAtMs: number;
  readonly cpu: CgroupCpu;
  readonly memory: CgroupMemory;
  /** Processes at and below it; not counted for the root. */
  readonly processes: Reading;
  /** Threads at and below it. */
  readonly threads: Reading;
  readonly threadsLimit: Reading;
  /** Only in the unified hierarchy. */
  readonly pressure: { readonly cpu: Pressure | undefined; readonly memory: Pressure | undefined; readonly io: Pressure | undefined };
}

export interface CgroupCpu {
  readonly totalNanos: Reading;
  readonly userNanos: Reading;
  readonly systemNanos: Reading;
  readonly periods: Reading;
  readonly throttledPeriods: Reading;
  readonly throttledNanos: Reading;
  /** `cpu.shares`, or what it would be for the weight. */
  readonly shares: Reading;
  readonly quotaUs: Reading;
  readonly periodUs: Reading;
}

export interface CgroupMemory {
  readonly usageBytes: Reading;
  readonly maxUsageBytes: Reading;
  /** File pages that are given up first. */
  readonly inactiveFileBytes: Reading;
  readonly rssBytes: Reading;
  readonly cacheBytes: Reading;
  readonly mappedFileBytes: Reading;
  readonly pageFaults: Reading;
  readonly majorPageFaults: Reading;
  /** Times that a limit was met. */
  readonly failures: Reading;
  readonly swapBytes: Reading;
  /** Processes that the kernel killed for want of memory. */
  readonly oomKills?: Reading;
  /** Absent: none. */
  readonly limitBytes: Reading;
  /** Absent: none. */
  readonly swapLimitBytes: Reading;
}

export interface Stall {
  readonly totalUs: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

/** How long tasks waited for a resource: some of them, or all at once. */
export interface Pressure {
  readonly some: Stall | undefined;
  readonly full: Stall | undefined;
}

export interface DirectoryUsage {
  readonly bytes: number;
  readonly inodes: number;
}

export interface HostUsage {
  readonly bootedAtMs: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly swapFreeBytes: number;
  /** Tasks of the host. */
  readonly tasks: number;
  readonly maxTasks: number;
}

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** What a cgroup and all below it did with one disk. */
export interface DiskUsage {
  /** `/dev/vda` */
  readonly device: string;
  readonly reads: number;
  readonly readBytes: number;
  readonly writes: number;
  readonly writtenBytes: number;
}

/** A file system as a whole. */
export interface FilesystemRoom {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  /** With what is kept for root. */
  readonly freeBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  /** Two paths on one file system have the same. */
  readonly device: string;
}

/** What is used on the node, read anew with each call. Paths of cgroups are below the root of the tree; `/` is the whole host. */
export interface UsagePort {
  /** @returns undefined when there is no such cgroup */
  cgroup(path: string, signal: AbortSignal): Promise<CgroupUsage | undefined>;
  /** Of this process; undefined when it is in the root, with others. */
  ownCgroup(): Promise<string | undefined>;
  /** None of a cgroup that is not there, and where the kernel does not count it. */
  disks(path: string, signal: AbortSignal): Promise<readonly DiskUsage[]>;
  /** Names of the children; none of a cgroup that is not there. */
  cgroupChildren(path: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Blocks and inodes of all that is at and below a directory, on its own file system; what has several names counts once.
   *
   * @returns undefined when it is not there
   */
  directory(path: string, signal: AbortSignal): Promise<DirectoryUsage | undefined>;
  /** The file system that holds the path; undefined when it is not there. */
  filesystem(path: string, signal: AbortSignal): Promise<FilesystemRoom | undefined>;
  host(signal: AbortSignal): Promise<HostUsage>;
  /**
   * Interfaces without the loopback.
   *
   * @param cgroup whose first process is in the network that is meant; absent: the host's own
   * @returns none when there is no such process
   */
  network(cgroup: string | undefined, signal: AbortSignal): Promise<readonly InterfaceUsage[]>;
}
