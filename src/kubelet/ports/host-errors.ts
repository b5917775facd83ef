import { AppError, type AppErrorInit } from '#base/errors.ts';

interface HostErrorInit extends AppErrorInit {
  /** The kernel's word, such as `ENOSPC`. */
  readonly errno: string;
}

/** The kernel refused a call on the node. The subclasses are those that callers treat in their own way. */
export class HostCallFailed extends AppError {
  readonly code: string = 'HOST_CALL_FAILED';
  readonly retry: 'never' | 'backoff' = 'backoff';
  readonly errno: string;

  constructor(init: HostErrorInit) {
    super(init);
    this.errno = init.errno;
  }
}

/** A path, or a folder on the way to it, is not there. */
export class PathMissing extends HostCallFailed {
  override readonly code = 'PATH_MISSING';
}

/** No space, no inodes or no quota left. */
export class HostFull extends HostCallFailed {
  override readonly code = 'HOST_FULL';
}

/** Somebody still uses the mount, cgroup or folder. */
export class HostBusy extends HostCallFailed {
  override readonly code = 'HOST_BUSY';
}

/** We may not: a right is missing, or the file system is read-only. */
export class HostRefused extends HostCallFailed {
  override readonly code = 'HOST_REFUSED';
}

/** A tree cannot be removed because something is mounted at or below it. */
export class MountBelow extends AppError {
  readonly code = 'MOUNT_BELOW';
  readonly retry = 'backoff';
}

/** A path leads out of the folder that it must stay in. */
export class PathEscapes extends AppError {
  readonly code = 'PATH_ESCAPES';
  readonly retry = 'never';
}
