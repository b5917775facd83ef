/** One that the kernel schedules on: a thread of a core. */
export interface LogicalCpu {
  readonly cpu: number;
  /** The lowest of the CPUs that share the core: one number for each core of the machine. */
  readonly core: number;
  readonly socket: number;
  /** NUMA node. */
  readonly memoryNode: number;
}

export interface CpuTopologyPort {
  /** Every CPU that is online, by number. */
  cpus(signal: AbortSignal): Promise<readonly LogicalCpu[]>;
}
