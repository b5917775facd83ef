import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aStatefulSet, template } from '#api/testing/workloads.ts';
import { statefulSet } from './stateful-set.ts';

const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const mounting = template({ containers: [{ name: 'main', image: 'db:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] });

test('a stateful set is stored with its defaults, and its claims as claims of their own', () => {
  const { spec, status } = created(statefulSet, aStatefulSet({ volumeClaimTemplates: [claim], serviceName: 'web' }));
  const { template: _, selector: _selector, ...rest } = spec ?? { template: {}, selector: {} };
  assert.deepEqual(rest, {
    replicas: 1,
    serviceName: 'web',
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { ...claim.spec, volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ],
  });
  assert.deepEqual(status, { replicas: 0, availableReplicas: 0 });
});

test('pods of a stateful set may mount its claims', () => {
  assert.deepEqual(refusal(statefulSet, aStatefulSet({ volumeClaimTemplates: [claim], template: mounting })), []);
  assert.deepEqual(refusal(statefulSet, aStatefulSet({ template: mounting })), [
    'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
  ]);
});

test('a stateful set is named as a host', () => {
  const [problem] = refusal(statefulSet, { ...aStatefulSet(), metadata: { name: 'web.example' } });
  assert.equal(problem, 'metadata.name: Invalid value: "web.example": must not contain dots');
});

for (const [what, spec, expected] of [
  ['that selects everything', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset']],
  [
    'with an order of its own',
    { podManagementPolicy: 'Random' },
    ["spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'"],
  ],
  [
    'with a strategy of its own',
    { updateStrategy: { type: 'Recreate' } },
    ['spec.updateStrategy: Invalid value: {"Type":"Recreate","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\''],
  ],
  [
    'that waits to be deleted, but in steps',
    { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    ['spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy \'RollingUpdate\''],
  ],
  [
    'that keeps claims at times',
    { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Sometimes' } },
    ['spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Sometimes": supported values: "Retain", "Delete"'],
  ],
  [
    'with negative numbers',
    { replicas: -1, ordinals: { start: -1 }, updateStrategy: { rollingUpdate: { partition: -1 } } },
    [
      'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    'with a claim for nothing',
    { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] },
    [
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ],
  ],
  [
    'whose pods end',
    { template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }) },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  ],
] as const) {
  test(`a stateful set ${what} is refused`, () => {
    assert.deepEqual(refusal(statefulSet, aStatefulSet(spec)), expected);
  });
}

test('of a stateful set a few things may change', () => {
  const first = created(statefulSet, aStatefulSet({ serviceName: 'web' }));
  const refused = (spec: object) => updated(statefulSet, first, created(statefulSet, aStatefulSet({ serviceName: 'web', ...spec }))).refusal;
  const changes = { replicas: 3, ordinals: { start: 2 }, revisionHistoryLimit: 0, minReadySeconds: 5, updateStrategy: { type: 'OnDelete' } };
  assert.deepEqual(refused({ ...changes, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } }), []);
  const fixed =
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  assert.deepEqual(refused({ serviceName: 'other' }), [fixed]);
  assert.deepEqual(refused({ podManagementPolicy: 'Parallel' }), [fixed]);
  assert.deepEqual(refused({ volumeClaimTemplates: [claim] }), [fixed]);
});

test('a set from before a rule was there may still be scaled', () => {
  const body = aStatefulSet({ serviceName: 'Old_Name', template: mounting });
  const old = created(statefulSet, body);
  assert.equal(refusal(statefulSet, body).length, 2);
  assert.deepEqual(
    updated(statefulSet, old, created(statefulSet, aStatefulSet({ serviceName: 'Old_Name', template: mounting, replicas: 3 }))).refusal,
    [],
  );
});

test('the status of a stateful set must add up', () => {
  const first = created(statefulSet, aStatefulSet());
  assert.deepEqual(statusRefusal(statefulSet, first, { replicas: 1, readyReplicas: 1, availableReplicas: 2 }), [
    'status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas',
  ]);
});

test('the row of a stateful set, and what its author is told', () => {
  const object = created(statefulSet, aStatefulSet({ replicas: 3, revisionHistoryLimit: -1 }));
  assert.deepEqual(cells(statefulSet, { ...object, status: { replicas: 2, readyReplicas: 1 } }), ['web', '1/3', '5m', 'main', 'web:1']);
  assert.deepEqual(statefulSet.warnings(object, undefined), [
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ]);
});
