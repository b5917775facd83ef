import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#api/object.ts';
import { ObjectBytes } from './object-bytes.ts';

const bytes = new ObjectBytes({ group: '', version: 'v1', kind: 'ConfigMap' });
const metadata = { name: 'ä', uid: 'u', resourceVersion: '4', creationTimestamp: '2030-01-01T00:00:00Z' };
const object: KubeObject & { readonly data: object } = { data: { k: '"metadata":{' }, metadata, kind: 'ConfigMap', apiVersion: 'v1' };

test('an object is stored without its revision and shown with the one of its commit', () => {
  const stored = bytes.toStored(object);
  assert.equal(stored.includes('resourceVersion'), false);
  const item = bytes.toItem(stored, 12);
  assert.deepEqual(JSON.parse(item.toString()), { metadata: { ...metadata, resourceVersion: '12' }, data: object.data });
  assert.deepEqual(JSON.parse(bytes.toObject(item).toString()), { ...object, metadata: { ...metadata, resourceVersion: '12' } });
  assert.deepEqual(bytes.parse(bytes.atRevision(item, 12, 130)), { ...object, metadata: { ...metadata, resourceVersion: '130' } });
});

test('what another program stored in another order is read all the same', () => {
  const item = bytes.toItem(Buffer.from(JSON.stringify(object)), 7);
  assert.deepEqual(bytes.parse(item), { ...object, metadata: { ...metadata, resourceVersion: '7' } });
});

test('what is not stored has no revision', () => {
  assert.deepEqual(Object.keys(JSON.parse(bytes.toItem(bytes.toStored(object), 0).toString()).metadata), ['name', 'uid', 'creationTimestamp']);
});
