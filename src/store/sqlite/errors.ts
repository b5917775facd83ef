import { AppError, messageOf } from '#base/errors.ts';

/** There is no room for a commit. Nothing was written; later commits work once there is room. */
export class StoreFull extends AppError {
  readonly code = 'STORE_FULL';
  readonly retry = 'backoff';
}

/** The disk did not do what it was asked. Nothing was committed. */
export class StoreFailed extends AppError {
  readonly code = 'STORE_FAILED';
  readonly retry = 'backoff';
}

/** Another process has the store open. */
export class StoreInUse extends AppError {
  readonly code = 'STORE_IN_USE';
  readonly retry = 'backoff';
}

/** The file is no store, or not a whole one. */
export class StoreDamaged extends AppError {
  readonly code = 'STORE_DAMAGED';
  readonly retry = 'never';
}

/** The file was written by a newer version of this program. */
export class StoreTooNew extends AppError {
  readonly code = 'STORE_TOO_NEW';
  readonly retry = 'never';
}

/**
 * What a failure of SQLite means; other errors are passed on as they are.
 *
 * Source of the codes: https://sqlite.org/rescode.html. Extended codes carry the primary one in front, `SQLITE_IOERR_FSYNC`.
 */
export function fromSqlite(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const init = { message: `${file}: ${messageOf(error)}`, cause: error };
  if (code.startsWith('SQLITE_FULL')) return new StoreFull({ ...init, hint: `make room on the file system of ${file}` });
  if (code.startsWith('SQLITE_BUSY')) {
    const hint = 'stop the other process, or choose another data folder';
    return new StoreInUse({ message: `${file} is in use by another process`, cause: error, hint });
  }
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')) {
    return new StoreDamaged({ ...init, hint: `move ${file} away and restore a copy of it` });
  }
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|NOMEM)/.test(code)) {
    return new StoreFailed({ ...init, hint: `check the disk of ${file}, its mount options and permissions` });
  }
  return error; // a faulty statement is a bug
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : undefined;
}
