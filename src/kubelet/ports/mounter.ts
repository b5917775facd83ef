export interface BindOptions {
  readonly readOnly: boolean;
  readonly recursive: boolean;
}

export interface TmpfsOptions {
  /** 0: the kernel's default (half of the memory). */
  readonly sizeBytes: number;
  readonly mode: number;
}

export interface HugePagesOptions {
  /** A size that the kernel has. */
  readonly pageBytes: number;
}

export interface MountPoint {
  readonly target: string;
  readonly source: string;
  readonly fsType: string;
}

/**
 * Mounts on the node. Asking twice for the same mount makes one (a naive bind mount stacks in the kernel); something else that is mounted
 * at the target is unmounted first. The target must be there.
 */
export interface MounterPort {
  bind(source: string, target: string, options: BindOptions, signal: AbortSignal): Promise<void>;
  tmpfs(target: string, options: TmpfsOptions, signal: AbortSignal): Promise<void>;
  /** Huge pages as files: a hugetlbfs. */
  hugePages(target: string, options: HugePagesOptions, signal: AbortSignal): Promise<void>;
  /**
   * Binds what is at `relative` below `root` to `target`, which is made: a folder (0750) or a file (0640), as the source is. What is missing
   * of the source is made as folders with the mode of `root`. Links are followed inside `root` only, and nobody who may write there can
   * lead us out, not even while we look.
   *
   * @throws {PathEscapes} when it leads out of `root`
   */
  bindBelow(root: string, relative: string, target: string, signal: AbortSignal): Promise<void>;
  /** Everything that is mounted exactly there, stacked mounts too; nothing mounted is no error. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  /** Mounts at or below `root`, deepest first. */
  listBelow(root: string, signal: AbortSignal): Promise<readonly MountPoint[]>;
}
