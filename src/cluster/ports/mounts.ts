export interface HostMount {
  readonly target: string;
  readonly fsType: string;
}

/** Mounts of the host. */
export interface HostMounts {
  /** Nothing to do when one is mounted there already. */
  ensureTmpfs(target: string, sizeBytes: number, signal: AbortSignal): Promise<void>;
  /** Everything that is mounted exactly there; also when it is busy. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  /** At or below `root`, deepest first. */
  listBelow(root: string): Promise<readonly HostMount[]>;
  /** Whether overlay file systems can have their folders in `directory`. */
  canOverlay(directory: string, signal: AbortSignal): Promise<boolean>;
}
