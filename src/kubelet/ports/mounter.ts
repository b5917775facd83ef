export interface BindOptions {
  readonly readOnly: boolean;
  readonly recursive: boolean;
}

export interface TmpfsOptions {
  /** 0: the kernel's default (half of the memory). */
  readonly sizeBytes: number;
  readonly mode: number;
}

export interface MountPoint {
  readonly target: string;
  readonly source: string;
  readonly fsType: string;
}

/** Mounts on the node. Asking twice for the same mount makes one (a naive bind mount stacks in the kernel). */
export interface MounterPort {
  bind(source: string, target: string, options: BindOptions, signal: AbortSignal): Promise<void>;
  tmpfs(target: string, options: TmpfsOptions, signal: AbortSignal): Promise<void>;
  /** Everything that is mounted exactly there, stacked mounts too; nothing mounted is no error. */
  unmount(target: string, signal: AbortSignal): Promise<void>;
  /** Mounts at or below `root`, deepest first. */
  listBelow(root: string, signal: AbortSignal): Promise<readonly MountPoint[]>;
}
