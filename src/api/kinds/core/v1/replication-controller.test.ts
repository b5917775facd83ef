import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, updated } from '#api/testing/kind-objects.ts';
import { aReplicationController, template } from '#api/testing/workloads.ts';
import { replicationController } from './replication-controller.ts';

test('a replication controller takes what it does not say from its pods', () => {
  const { metadata, spec, status } = created(replicationController, aReplicationController());
  assert.deepEqual([metadata.labels, spec?.selector, spec?.replicas, status], [{ app: 'web' }, { app: 'web' }, 1, { replicas: 0 }]);
  const own = created(replicationController, { ...aReplicationController({ selector: { a: 'b' } }), metadata: { name: 'web', labels: { c: 'd' } } });
  assert.deepEqual([own.metadata.labels, own.spec?.selector], [{ c: 'd' }, { a: 'b' }]);
});

for (const [what, spec, expected] of [
  ['without a template', { template: undefined }, ['spec.selector: Required value', 'spec.template: Required value']],
  [
    'that does not select its own pods',
    { selector: { app: 'db' } },
    ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  ],
  [
    'whose pods end',
    { replicas: -1, template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 1 }) },
    [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
    ],
  ],
] as const) {
  test(`a replication controller ${what} is refused`, () => {
    assert.deepEqual(refusal(replicationController, aReplicationController(spec)), expected);
  });
}

test('a replication controller may select others later', () => {
  const first = created(replicationController, aReplicationController());
  const labels = { app: 'web', tier: 'a' };
  const next = created(replicationController, aReplicationController({ selector: labels, template: { ...template(), metadata: { labels } } }));
  const { object, refusal: problems } = updated(replicationController, first, next);
  assert.deepEqual([object.metadata.generation, problems], [2, []]);
});

test('the row and the scale of a replication controller', () => {
  const object = { ...created(replicationController, aReplicationController({ replicas: 3 })), status: { replicas: 2, readyReplicas: 1 } };
  assert.deepEqual(cells(replicationController, object), ['web', 3, 2, 1, '5m', 'main', 'web:1', 'app=web']);
  assert.deepEqual(replicationController.scale?.read(object), { specReplicas: 3, statusReplicas: 2, selector: 'app=web' });
  assert.equal(replicationController.scale?.write(object, 5).spec?.replicas, 5);
});
