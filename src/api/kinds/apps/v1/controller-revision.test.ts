import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, updated } from '#api/testing/kind-objects.ts';
import { controllerRevision } from './controller-revision.ts';

const body = (more: object = {}) => ({ metadata: { name: 'web-1' }, data: { spec: { template: {} } }, revision: 3, ...more });

test('a revision has data, and keeps it', () => {
  assert.deepEqual(refusal(controllerRevision, body({ data: undefined, revision: -1 })), [
    'data: Required value: data is mandatory',
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ]);
  const first = created(controllerRevision, body());
  assert.deepEqual(updated(controllerRevision, first, { ...first, revision: 4 }).refusal, []);
  assert.deepEqual(updated(controllerRevision, first, { ...first, data: { other: 1 } }).refusal, [
    'data: Invalid value: {"other":1}: field is immutable',
  ]);
});

test('the row of a revision names its controller', () => {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }];
  const owned = created(controllerRevision, body({ metadata: { name: 'web-1', ownerReferences } }));
  assert.deepEqual(cells(controllerRevision, owned), ['web-1', 'statefulset.apps/web', 3, '5m']);
  assert.equal(cells(controllerRevision, created(controllerRevision, body()))[1], '<none>');
});
