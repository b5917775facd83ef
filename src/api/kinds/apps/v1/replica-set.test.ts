import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aReplicaSet, template } from '#api/testing/workloads.ts';
import { replicaSet } from './replica-set.ts';

test('a replica set begins with no pods', () => {
  const { spec, status, metadata } = created(replicaSet, aReplicaSet());
  assert.deepEqual([spec?.replicas, status, metadata.generation], [1, { replicas: 0 }, 1]);
});

test('a replica set that cannot find its pods is refused', () => {
  assert.deepEqual(refusal(replicaSet, { ...aReplicaSet(), spec: {} }), [
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    'spec.template.spec.containers: Required value',
  ]);
  assert.deepEqual(refusal(replicaSet, aReplicaSet({ selector: {}, template: template({ restartPolicy: 'OnFailure' }) })), [
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
    'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
  ]);
});

test('the selector of a replica set stays, its template need not', () => {
  const first = created(replicaSet, aReplicaSet());
  const other = created(replicaSet, aReplicaSet({ template: template({ containers: [{ name: 'main', image: 'web:2' }] }) }));
  const { object, refusal: problems } = updated(replicaSet, first, other);
  assert.deepEqual([object.metadata.generation, problems], [2, []]);
  const selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
  assert.deepEqual(updated(replicaSet, first, created(replicaSet, aReplicaSet({ selector }))).refusal, [
    `spec.selector: Invalid value: ${JSON.stringify(selector)}: field is immutable`,
  ]);
});

test('the status of a replica set must add up', () => {
  const first = created(replicaSet, aReplicaSet());
  assert.deepEqual(statusRefusal(replicaSet, first, { replicas: 1, fullyLabeledReplicas: 2, availableReplicas: 1 }), [
    'status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas',
  ]);
});

test('the row of a replica set', () => {
  const object = created(replicaSet, aReplicaSet({ replicas: 3 }));
  assert.deepEqual(cells(replicaSet, { ...object, status: { replicas: 2, readyReplicas: 1 } }), ['web', 3, 2, 1, '5m', 'main', 'web:1', 'app=web']);
});
