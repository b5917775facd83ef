import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Affinity, ContainerStatus, NodeSelectorTerm, Pod } from '#api/types/core-v1.ts';

const base = aPod();
const update = (next: Pod, previous: Pod = base) => podKind.validateUpdate(next, previous).map(problemText);
const spec = (part: NonNullable<Parameters<typeof aPod>[0]>['spec']) => aPod({ spec: part });

test('labels, annotations and images may change', () => {
  assert.deepEqual(update(aPod({ metadata: { labels: { a: 'b' } }, spec: { containers: [aContainer({ image: 'other' })] } })), []);
});

test('tolerations may be added, and their time changed', () => {
  const one = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  assert.deepEqual(update(spec({ tolerations: [{ ...one, tolerationSeconds: 5 }, { operator: 'Exists' }] }), spec({ tolerations: [one] })), []);
  assert.deepEqual(update(spec({ tolerations: [] }), spec({ tolerations: [one] })), [
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ]);
});

test('the deadline may come, and come nearer', () => {
  assert.deepEqual(update(spec({ activeDeadlineSeconds: 10 })), []);
  assert.deepEqual(update(spec({ activeDeadlineSeconds: 5 }), spec({ activeDeadlineSeconds: 10 })), []);
  assert.deepEqual(update(spec({ activeDeadlineSeconds: 20 }), spec({ activeDeadlineSeconds: 10 })), [
    'spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value',
  ]);
  assert.deepEqual(update(base, spec({ activeDeadlineSeconds: 10 })), [
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ]);
});

test('containers come and go with the pod only', () => {
  assert.deepEqual(update(spec({ containers: [aContainer(), aContainer({ name: 'b' })] })), [
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ]);
});

for (const part of [
  { nodeName: 'n' },
  { hostNetwork: true },
  { containers: [aContainer({ env: [{ name: 'A', value: '1' }] })] },
  { terminationGracePeriodSeconds: 5 },
  { securityContext: { runAsUser: 0 } },
  { nodeSelector: { a: 'b' } },
]) {
  test(`${Object.keys(part)[0]} may not change`, () => {
    const [first, ...rest] = update(spec(part));
    assert.match(first ?? '', /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`/);
    assert.deepEqual(rest, []);
  });
}

test('what clients in Go leave out is no change', () => {
  assert.deepEqual(update(base, spec({ hostNetwork: false, volumes: [], containers: [aContainer({ tty: false, env: [] })] })), []);
});

test('gates may only go, and a gated pod may be narrowed', () => {
  const gated = spec({ schedulingGates: [{ name: 'a' }], nodeSelector: { x: 'y' } });
  assert.deepEqual(update(spec({ nodeSelector: { x: 'y', z: '1' }, schedulingGates: [{ name: 'a' }] }), gated), []);
  assert.deepEqual(update(spec({ nodeSelector: { x: 'y' } }), gated), []);
  assert.deepEqual(update(spec({ nodeSelector: { x: 'y' }, schedulingGates: [{ name: 'a' }, { name: 'b' }] }), gated), [
    "spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
  ]);
  assert.deepEqual(update(spec({ schedulingGates: [{ name: 'a' }] }), gated), [
    'spec.nodeSelector: Invalid value: {}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
  ]);
});

test('the node affinity of a gated pod may only become narrower', () => {
  const gated = (nodeSelectorTerms: readonly NodeSelectorTerm[], more: Affinity = {}) =>
    spec({
      schedulingGates: [{ name: 'a' }],
      affinity: { ...more, nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
  const [a, b] = [
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'Exists' },
  ];
  const one = gated([{ matchExpressions: [a] }]);
  const field = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  assert.deepEqual(update(one, spec({ schedulingGates: [{ name: 'a' }] })), []);
  assert.deepEqual(update(gated([{ matchExpressions: [a, b] }]), one), []);
  assert.deepEqual(update(gated([{ matchExpressions: [b] }]), one), [
    `${field}[0]: Invalid value: {"matchExpressions":[{"key":"b","operator":"Exists"}]}: only additions are allowed (no mutations or deletions)`,
  ]);
  assert.deepEqual(update(gated([{ matchExpressions: [a] }, { matchExpressions: [b] }]), one), [
    `${field}: Invalid value: [{"matchExpressions":[{"key":"a","operator":"Exists"}]},{"matchExpressions":[{"key":"b","operator":"Exists"}]}]: ` +
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
  ]);
  const together = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }] } };
  assert.match(update(gated([{ matchExpressions: [a] }], together), one)[0] ?? '', /^spec: Forbidden: pod updates may not change fields other than/);
});

test('metadata keeps what names the object', () => {
  assert.deepEqual(update(aPod({ metadata: { name: 'b' } })), ['metadata.name: Invalid value: "b": field is immutable']);
  const going = aPod({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } });
  assert.deepEqual(update(aPod({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: ['a.b/c'] } }), going), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/c"}',
  ]);
});

test('a container that ended for good may not run again', () => {
  const status = (state: ContainerStatus['state']): ContainerStatus => ({
    name: 'main',
    ready: false,
    restartCount: 0,
    image: 'i',
    imageID: '',
    state,
  });
  const ended = (exitCode: number) => status({ terminated: { exitCode } });
  const running = status({ running: {} });
  const change = (restartPolicy: string, before: ContainerStatus) =>
    podKind
      .validateStatusUpdate(
        aPod({ spec: { restartPolicy }, status: { containerStatuses: [running] } }),
        aPod({ spec: { restartPolicy }, status: { containerStatuses: [before] } }),
      )
      .map(problemText);
  const refused = ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'];
  assert.deepEqual(change('Always', ended(0)), []);
  assert.deepEqual(change('OnFailure', ended(1)), []);
  assert.deepEqual(change('OnFailure', ended(0)), refused);
  assert.deepEqual(change('Never', ended(1)), refused);
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
  const spec = { restartPolicy: 'Never', containers: [aContainer(), aContainer({ name: 'other', restartPolicyRules })] };
  const changed = podKind.validateStatusUpdate(
    aPod({ spec, status: { containerStatuses: [running] } }),
    aPod({ spec, status: { containerStatuses: [ended(1)] } }),
  );
  assert.deepEqual(changed, []);
});
