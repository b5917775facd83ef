import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aDaemonSet, template } from '#api/testing/workloads.ts';
import { daemonSet } from './daemon-set.ts';

const counter = 'deprecated.daemonset.template.generation';

test('a daemon set is stored with its defaults and the number of its template', () => {
  const { metadata, spec, status } = created(daemonSet, aDaemonSet());
  assert.deepEqual(metadata.annotations, { [counter]: '1' });
  assert.deepEqual(spec?.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  assert.equal(spec?.revisionHistoryLimit, 10);
  assert.deepEqual(status, { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 });
  assert.deepEqual(created(daemonSet, aDaemonSet({ updateStrategy: { type: 'OnDelete' } })).spec?.updateStrategy, { type: 'OnDelete' });
});

test('a new template of a daemon set is counted, whatever the client says', () => {
  const first = created(daemonSet, aDaemonSet());
  const other = created(daemonSet, aDaemonSet({ template: template({ containers: [{ name: 'main', image: 'web:2' }] }) }));
  const { metadata } = updated(daemonSet, first, { ...other, metadata: { ...other.metadata, annotations: { [counter]: '9' } } }).object;
  assert.deepEqual([metadata.generation, metadata.annotations], [2, { [counter]: '2' }]);
  const slower = updated(daemonSet, first, created(daemonSet, aDaemonSet({ minReadySeconds: 5 }))).object.metadata;
  assert.deepEqual([slower.generation, slower.annotations], [2, { [counter]: '1' }]);
  const bare = { ...first, metadata: { ...first.metadata, annotations: {} } };
  assert.deepEqual(daemonSet.prepareStatusUpdate(bare, first).metadata.annotations, { [counter]: '1' });
});

for (const [what, spec, expected] of [
  [
    'without a selector',
    { selector: undefined },
    ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  ],
  ['that selects everything', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset']],
  [
    'whose pods end',
    { template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 1 }) },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
    ],
  ],
  [
    'with more and fewer pods at once',
    { updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
    ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
  ],
  [
    'with neither more nor fewer pods',
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  [
    'with a strategy of its own',
    { updateStrategy: { type: 'Recreate' } },
    ['spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"'],
  ],
  [
    'with negative numbers',
    { minReadySeconds: -1, revisionHistoryLimit: -2 },
    [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
] as const) {
  test(`a daemon set ${what} is refused`, () => {
    assert.deepEqual(refusal(daemonSet, aDaemonSet(spec)), expected);
  });
}

test('a status of negative numbers is refused', () => {
  const first = created(daemonSet, aDaemonSet());
  assert.deepEqual(statusRefusal(daemonSet, first, { ...first.status, numberReady: -1 }), [
    'status.numberReady: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('the row of a daemon set', () => {
  const object = created(daemonSet, aDaemonSet({ template: template({ nodeSelector: { zone: 'a', disk: 'ssd' } }) }));
  const status = { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberReady: 1, updatedNumberScheduled: 2, numberMisscheduled: 0 };
  assert.deepEqual(cells(daemonSet, { ...object, status }), ['web', 3, 2, 1, 2, 0, 'disk=ssd,zone=a', '5m', 'main', 'web:1', 'app=web']);
  assert.equal(cells(daemonSet, created(daemonSet, aDaemonSet()))[6], '<none>');
});
