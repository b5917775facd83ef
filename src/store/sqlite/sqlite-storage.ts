import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { LogStorage } from '../log/log-storage.ts';
import type { Storage } from '../storage.ts';
import { Database } from './database.ts';
import { ensureSchema } from './schema.ts';
import { SqliteLog } from './sqlite-log.ts';

export interface SqliteStorageOptions {
  /** Made with mode 0600, its folder with 0700, when they are missing. */
  readonly file: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The store in one SQLite file, for one process.
 *
 * @throws {StoreInUse} when another process has the file open
 * @throws {StoreTooNew} {@link StoreDamaged} {@link StoreFailed}
 */
export async function openSqliteStorage({ file, clock, logger }: SqliteStorageOptions): Promise<Storage> {
  const database = Database.open(file);
  try {
    ensureSchema(database);
    return new LogStorage(new SqliteLog(database), clock, logger);
  } catch (error) {
    closeAfter(error, database);
    throw error;
  }
}

/** The first failure is the one to tell; that a damaged file cannot be closed well either adds nothing. */
function closeAfter(error: unknown, database: Database): void {
  try {
    database.close();
  } catch (cause) {
    if (!(cause instanceof AppError)) throw new AggregateError([error, cause], 'the store could not be opened');
  }
}
