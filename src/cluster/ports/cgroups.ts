/** Control groups of the host, all hierarchies alike. */
export interface HostCgroups {
  /** Paths below each hierarchy's root at or below `root`, deepest first, each once. */
  listBelow(root: string): Promise<readonly string[]>;
  processesIn(cgroup: string): Promise<readonly number[]>;
  /** Removes the group and all below it from every hierarchy. @throws {Unavailable} when a process is left in it */
  removeTree(root: string): Promise<void>;
}
