/** One that the kernel schedules on: a thread of a core. */
export interface LogicalCpu {
  readonly cpu: number;
  /** The lowest of the CPUs that share the core: one number for each core of the machine. */
  readonly core: number;
  readonly socket: number;
  /** NUMA node. */
  readonly memoryNode: number;
}

/** A NUMA node. */
export interface MemoryNode {
  readonly node: number;
  readonly memoryBytes: number;
  /** What the kernel holds as huge pages, by the size of a page in bytes. */
  readonly hugepages: readonly { readonly sizeBytes: number; readonly pages: number }[];
  /** To each node of the machine, in order; 10 is near. */
  readonly distances: readonly number[];
}

export interface CpuTopologyPort {
  /** In order of number; a machine that tells of none has one, with no memory known. */
  memoryNodes(signal: AbortSignal): Promise<readonly MemoryNode[]>;
  /** Every CPU that is online, by number. */
  cpus(signal: AbortSignal): Promise<readonly LogicalCpu[]>;
}
