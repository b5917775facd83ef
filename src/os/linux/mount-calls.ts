/** mount(2)'s flags that we use. Source: linux/mount.h. */
export const MS_RDONLY = 1;
export const MS_REMOUNT = 32;
export const MS_BIND = 4096;
export const MS_REC = 16_384;

/** A remount must repeat what was set, or the kernel clears it (and refuses to, in a user namespace). */
export const FLAG_OF_OPTION: Readonly<Record<string, number>> = {
  ro: MS_RDONLY,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  noatime: 1024,
  nodiratime: 2048,
  relatime: 2_097_152,
};

export interface MountRequest {
  readonly source: string;
  readonly target: string;
  /** '' for a bind mount. */
  readonly fsType: string;
  readonly flags: number;
  /** The file system's own options, '' for none. */
  readonly data: string;
}

/** The two calls that change mounts. Failures are `HostCallFailed` with the kernel's errno. */
export interface MountCalls {
  mount(request: MountRequest): Promise<void>;
  /** Takes the topmost mount away; false when nothing is mounted there or the target is missing. Does not follow a link. */
  unmount(target: string): Promise<boolean>;
}
