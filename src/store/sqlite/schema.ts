import { type Database, numberIn } from './database.ts';
import { StoreDamaged, StoreTooNew } from './errors.ts';

const schemaVersion = 1;

/**
 * `log`: one row a commit; a NULL value is a deletion. `state`: `compacted_revision` as callers see it, `swept_revision` up to which the
 * rows are really gone.
 *
 * The value stands last, so that the other columns of a long row are read without it.
 */
const schema = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    create_revision INTEGER NOT NULL,
    previous_revision INTEGER NOT NULL,
    lease_id INTEGER NOT NULL,
    value BLOB
  );
  CREATE UNIQUE INDEX log_by_key ON log (key, revision);
  CREATE INDEX log_by_lease ON log (lease_id, key) WHERE lease_id <> 0;
  CREATE TABLE lease (lease_id INTEGER PRIMARY KEY AUTOINCREMENT, ttl_seconds INTEGER NOT NULL);
  CREATE TABLE state (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 0),
    schema_version INTEGER NOT NULL,
    compacted_revision INTEGER NOT NULL,
    swept_revision INTEGER NOT NULL
  );
  INSERT INTO state VALUES (0, ${schemaVersion}, 0, 0);
`;

/**
 * Makes the tables in an empty file, checks the version in any other.
 *
 * @throws {StoreTooNew} {@link StoreDamaged}
 */
export function ensureSchema(database: Database): void {
  const tables = database.prepare('SELECT name FROM sqlite_schema').all();
  if (tables.length === 0) {
    database.atomically(() => database.exec(schema));
    return;
  }
  const { file } = database;
  if (!tables.some((table) => table['name'] === 'state')) {
    throw new StoreDamaged({ message: `${file} is no store of this program`, hint: 'choose another data folder' });
  }
  const version = numberIn(database.prepare('SELECT schema_version FROM state').first(), 'schema_version');
  if (version > schemaVersion) {
    const message = `${file} has schema version ${version}, this program knows ${schemaVersion}`;
    throw new StoreTooNew({ message, hint: 'use the version that wrote it, or a newer one' });
  }
}
