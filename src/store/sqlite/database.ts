import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Libsql from 'libsql';
import { fromSqlite, StoreFailed } from './errors.ts';

type SqlValue = number | string | Uint8Array | null;
export type SqlRow = Readonly<Record<string, number | string | ArrayBuffer | Uint8Array | null>>;

export interface Statement {
  run(...values: readonly SqlValue[]): void;
  first(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
}

/** One SQLite file, held by this process alone. Failures of SQLite come out as the errors of `errors.ts`. */
export class Database {
  readonly file: string;
  readonly #sql: Libsql.Database;

  private constructor(file: string, sql: Libsql.Database) {
    this.file = file;
    this.#sql = sql;
  }

  /**
   * Makes the file (0600) and its folder (0700) when they are missing.
   *
   * @throws {StoreInUse} when another process has it open
   */
  static open(file: string): Database {
    prepareFile(file);
    return translated(file, () => {
      const sql = new Libsql(file);
      try {
        // before anything is read: no memory is shared then, and the lock on the file is kept until `close` or the process's end
        sql.pragma('locking_mode = EXCLUSIVE');
        sql.pragma('auto_vacuum = INCREMENTAL');
        sql.pragma('journal_mode = WAL');
        sql.pragma('synchronous = FULL');
        sql.pragma('journal_size_limit = 16777216');
        return new Database(file, sql);
      } catch (error) {
        sql.close();
        throw error;
      }
    });
  }

  exec(sql: string): void {
    translated(this.file, () => this.#sql.exec(sql));
  }

  prepare(sql: string): Statement {
    const { file } = this;
    const statement = translated(file, () => this.#sql.prepare<SqlValue[][]>(sql));
    // libsql takes a single object for named values, so the values always go as one list
    return {
      run: (...values) => void translated(file, () => statement.run(values.slice())),
      first: (...values) => {
        const row = translated(file, () => statement.get(values.slice()));
        return row === undefined ? undefined : rowOf(row);
      },
      all: (...values) => translated(file, () => statement.all(values.slice()).map(rowOf)),
    };
  }

  /** All that `work` writes, or, when it throws or SQLite fails, nothing. */
  atomically<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#sql.inTransaction) this.exec('ROLLBACK'); // some failures have rolled back already
      throw error;
    }
  }

  /**
   * Gives the file back: libsql keeps the connection open as long as one of its statements is alive, and with it the lock, which SQLite
   * releases only outside of WAL mode.
   */
  close(): void {
    translated(this.file, () => {
      this.#sql.pragma('journal_mode = DELETE');
      this.#sql.pragma('locking_mode = NORMAL');
      this.#sql.prepare('SELECT count(*) FROM sqlite_schema').get();
      this.#sql.close();
    });
  }
}

export function numberIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') throw new Error(`column ${column} holds no number`);
  return value;
}

export function textIn(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`column ${column} holds no text`);
  return value;
}

/** `undefined` for NULL. libsql hands over a `Buffer` or an `ArrayBuffer`, depending on the call. */
export function bytesIn(row: SqlRow, column: string): Uint8Array | undefined {
  const value = row[column];
  if (value === null) return undefined;
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new Error(`column ${column} holds no bytes`);
}

function rowOf(row: unknown): SqlRow {
  if (typeof row !== 'object' || row === null) throw new Error('SQLite returned something that is no row');
  return row as SqlRow; // SQLite has no other types of values
}

function translated<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromSqlite(error, file);
  }
}

/** Never opens a file that exists: closing it would drop the lock that this very process may hold on it (a rule of POSIX locks). */
function prepareFile(file: string): void {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (existsSync(file)) return;
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)); // the WAL gets the same mode
    const directory = openSync(folder, constants.O_RDONLY);
    fsyncSync(directory); // a file whose name is lost in a power cut is as good as none
    closeSync(directory);
  } catch (cause) {
    throw new StoreFailed({ message: `${file} cannot be opened`, hint: `check that ${folder} can be written to`, cause });
  }
}
