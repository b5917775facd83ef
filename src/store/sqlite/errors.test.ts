import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '#base/errors.ts';
import { fromSqlite } from './errors.ts';

test('each failure of SQLite says what it means for the store', () => {
  const codes = ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_BUSY', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'];
  const errors = codes.map((code) => fromSqlite(Object.assign(new Error('text'), { code }), '/data/store.db'));
  assert.deepEqual(
    errors.map((error) => (error instanceof AppError ? [error.code, error.retry] : undefined)),
    [
      ['STORE_FULL', 'backoff'],
      ['STORE_FAILED', 'backoff'],
      ['STORE_FAILED', 'backoff'],
      ['STORE_FAILED', 'backoff'],
      ['STORE_IN_USE', 'backoff'],
      ['STORE_DAMAGED', 'never'],
      ['STORE_DAMAGED', 'never'],
    ],
  );
  for (const error of errors) {
    assert.ok(error instanceof AppError && error.message.includes('/data/store.db') && error.hint !== undefined && error.cause !== undefined);
  }
});

test('a faulty statement and errors of others stay what they are', () => {
  for (const error of [Object.assign(new Error('near "selec"'), { code: 'SQLITE_ERROR' }), new Error('x'), 'text', undefined]) {
    assert.equal(fromSqlite(error, '/f'), error);
  }
});
