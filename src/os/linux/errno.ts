import { type AppError, messageOf } from '#base/errors.ts';
import { HostBusy, HostCallFailed, HostFull, HostRefused, PathMissing } from '#kubelet/ports/host-errors.ts';

const CLASSES: Readonly<Record<string, typeof HostCallFailed>> = {
  ENOENT: PathMissing,
  ENOSPC: HostFull,
  EDQUOT: HostFull,
  EBUSY: HostBusy,
  EACCES: HostRefused,
  EPERM: HostRefused,
  EROFS: HostRefused,
};

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on this file system',
  EACCES: 'run as root, or give the missing right',
  EPERM: 'run as root, or give the missing right',
  EROFS: 'the file system is mounted read-only: choose another folder',
};

/** The kernel's word in an error of Node.js, `undefined` for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** @param doing names the call and its object, as in `mkdir /a/b` */
export function hostError(errno: string, doing: string, cause?: unknown): AppError {
  const ErrorClass = CLASSES[errno] ?? HostCallFailed;
  const message = cause === undefined ? `${doing}: ${errno}` : `${doing}: ${messageOf(cause)}`;
  return new ErrorClass({ message, errno, hint: HINTS[errno], cause });
}

/** Runs a call of `node:fs`; what the kernel refuses becomes an `AppError`. */
export function hostCall<T>(doing: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw translated(doing, error);
  }
}

export async function hostCallAsync<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translated(doing, error);
  }
}

/** As `hostCall`, with `undefined` for what is not there. */
export function unlessMissing<T>(doing: string, call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw translated(doing, error);
  }
}

function translated(doing: string, error: unknown): unknown {
  const errno = errnoOf(error);
  return errno === undefined ? error : hostError(errno, doing, error);
}
