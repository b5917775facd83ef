import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from './field-problem.ts';
import { configMap } from './kinds/core/v1/config-map.ts';
import { event } from './kinds/core/v1/event.ts';
import { namespace } from './kinds/core/v1/namespace.ts';
import { node } from './kinds/core/v1/node.ts';
import { pod } from './kinds/core/v1/pod.ts';
import { secret } from './kinds/core/v1/secret.ts';
import { kinds } from './kinds/index.ts';
import { priorityClass } from './kinds/scheduling/v1/priority-class.ts';
import { aConfigMap, aNamespace, aNode, anEvent, aPod, aPriorityClass, aSecret } from './testing/objects.ts';

const nowMs = Date.parse('2026-01-02T04:04:05Z');

test('every kind has a schema of its scope, a plural and a prefix of its own', () => {
  for (const kind of kinds) {
    assert.equal(kind.schema.scope, kind.scope, kind.kind);
    assert.ok(
      kind.columns.some((column) => column.name === 'Name'),
      kind.kind,
    );
  }
  const stored = kinds.filter(({ storedAs }) => storedAs === undefined);
  assert.equal(new Set(stored.map(({ storagePrefix }) => storagePrefix)).size, stored.length);
  assert.equal(new Set(kinds.map(({ plural, group, version }) => `${plural}.${version}.${group}`)).size, kinds.length);
});

test('a new pod is pending whatever its author says', () => {
  const created = pod.prepareCreate(aPod({ metadata: { generation: 100 }, status: { phase: 'Running', podIP: '1.2.3.4' } }));
  assert.deepEqual(created.status, { phase: 'Pending', qosClass: 'BestEffort' });
  assert.equal(created.metadata.generation, 1);
  const gated = pod.prepareCreate(aPod({ spec: { schedulingGates: [{ name: 'a/b' }] } }));
  assert.equal(gated.status?.conditions?.[0]?.reason, 'SchedulingGated');
});

test('an update leaves the status alone and counts changes of the spec', () => {
  const before = aPod({ metadata: { generation: 4 }, status: { phase: 'Running' } });
  const same = pod.prepareUpdate(aPod({ metadata: { labels: { a: 'b' } }, status: { phase: 'Failed' } }), before);
  assert.equal(same.metadata.generation, 4);
  assert.deepEqual(same.status, before.status);
  assert.deepEqual(same.metadata.labels, { a: 'b' });
  assert.equal(pod.prepareUpdate(aPod({ spec: { activeDeadlineSeconds: 5 } }), before).metadata.generation, 5);
});

test('a status update leaves the spec alone, and who owns the pod and when it ends', () => {
  const before = aPod({ metadata: { generation: 4, deletionTimestamp: '2026-01-02T03:04:35Z' } });
  const next = aPod({ metadata: { labels: { a: 'b' } }, spec: { nodeName: 'x' }, status: { phase: 'Running', qosClass: undefined } });
  const updated = pod.prepareStatusUpdate(next, before);
  assert.deepEqual(updated.spec, before.spec);
  assert.deepEqual(updated.status, { phase: 'Running', qosClass: 'BestEffort' });
  assert.deepEqual(
    [updated.metadata.labels, updated.metadata.generation, updated.metadata.deletionTimestamp],
    [{ a: 'b' }, 4, '2026-01-02T03:04:35Z'],
  );
});

test('a pod is given time to end, unless nothing runs', () => {
  const grace = (part: Parameters<typeof aPod>[0], requested?: number) => pod.gracefulDeletion?.(aPod(part), requested);
  assert.equal(grace({ spec: { nodeName: 'n' } }), 30);
  assert.equal(grace({ spec: { nodeName: 'n' } }, 5), 5);
  assert.equal(grace({ spec: { nodeName: 'n' } }, 0), 0);
  assert.equal(grace({ spec: { nodeName: 'n' } }, -7), 1);
  assert.equal(grace({}), 0);
  assert.equal(grace({ spec: { nodeName: 'n' }, status: { phase: 'Failed' } }, 30), 0);
});

test('a namespace is born active, with its name as a label, and keeps its finalizers', () => {
  const created = namespace.prepareCreate(namespace.setDefaults(aNamespace({ spec: undefined, status: undefined })));
  assert.deepEqual([created.spec, created.status], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }]);
  assert.deepEqual(created.metadata.labels, { 'kubernetes.io/metadata.name': 'default' });
  assert.deepEqual(namespace.prepareUpdate({ ...created, spec: { finalizers: [] } }, created).spec, { finalizers: ['kubernetes'] });
  assert.equal(namespace.verbs.includes('deletecollection'), false);
});

test('the texts of a secret become data', () => {
  const written = secret.setDefaults(aSecret({ type: undefined, stringData: { pass: 'wörd' }, data: { a: 'Yg==' } }));
  assert.deepEqual([written.type, written.data, 'stringData' in written], ['Opaque', { key: 'dmFsdWU=', a: 'Yg==', pass: 'd8O2cmQ=' }, false]);
  assert.deepEqual(secret.validate(aSecret({ type: 'kubernetes.io/tls' })).map(problemText), [
    'data[tls.crt]: Required value',
    'data[tls.key]: Required value',
  ]);
});

test('an immutable config map stays, but for its metadata', () => {
  const fixed = aConfigMap({ immutable: true });
  const update = (next: Parameters<typeof aConfigMap>[0]) => configMap.validateUpdate(aConfigMap(next), fixed).map(problemText);
  assert.deepEqual(update({ immutable: true, metadata: { labels: { a: 'b' } } }), []);
  assert.deepEqual(update({ data: { key: 'other' } }), [
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ]);
});

test('a config map with bad keys or too much in it is refused', () => {
  const [bad, large] = [aConfigMap({ data: { 'a b': '' } }), aConfigMap({ data: { a: 'x'.repeat(1024 * 1024 + 1) } })];
  assert.match(configMap.validate(bad).map(problemText)[0] ?? '', /^data\[a b\]: Invalid value: "a b": a valid config key must consist/);
  assert.deepEqual(configMap.validate(large).map(problemText), [': Too long: may not be more than 1048576 bytes']);
});

test('the value of a priority class stays, and system names are reserved', () => {
  assert.deepEqual(priorityClass.validateUpdate(aPriorityClass({ value: 5 }), aPriorityClass()).map(problemText), [
    'value: Forbidden: may not be changed in an update.',
  ]);
  assert.equal(priorityClass.validate(aPriorityClass({ metadata: { name: 'system-mine' } })).length, 1);
  assert.deepEqual(priorityClass.validate(aPriorityClass({ metadata: { name: 'system-node-critical' }, value: 2_000_001_000 })), []);
});

test('a node shows its state, roles and address', () => {
  const cells = (object: ReturnType<typeof aNode>) => node.columns.map((column) => column.cell(object, nowMs));
  const plain = aNode({ metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '' } } });
  assert.deepEqual(cells(plain).slice(0, 7), ['node-1', 'Ready', 'edge,worker', '60m', '', '10.0.0.1', '<none>']);
  assert.equal(cells(aNode({ spec: { unschedulable: true }, status: { conditions: [] } }))[1], 'Unknown,SchedulingDisabled');
});

test('an event shows when it was last seen, and of what', () => {
  const row = event.columns.map((column) => column.cell(anEvent({ series: { count: 3, lastObservedTime: '2026-01-02T04:03:05.000000Z' } }), nowMs));
  assert.deepEqual(row, ['60s', 'Normal', 'Started', 'pod/web', '', 'kubelet, node-1', 'Started container main', '60m', 3, 'web.1']);
});

test('an event about an object is in the namespace of the object', () => {
  assert.deepEqual(event.validate(anEvent()), []);
  assert.deepEqual(event.validate(anEvent({ involvedObject: { namespace: 'other' } })).map(problemText), [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ]);
});

test('names and labels that cannot be are refused for every kind', () => {
  assert.deepEqual(configMap.validate(aConfigMap({ metadata: { name: '' } })).map(problemText), [
    'metadata.name: Required value: name or generateName is required',
  ]);
  assert.match(
    configMap.validate(aConfigMap({ metadata: { name: 'A' } })).map(problemText)[0] ?? '',
    /^metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain/,
  );
  assert.match(
    configMap.validate(aConfigMap({ metadata: { labels: { 'a b': '' } } })).map(problemText)[0] ?? '',
    /^metadata.labels: Invalid value: "a b": name part must consist/,
  );
  assert.deepEqual(namespace.validate(aNamespace({ metadata: { namespace: 'x' } })).map(problemText), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ]);
  assert.deepEqual(namespace.validate(aNamespace({ metadata: { name: 'a.b' } })).map(problemText), [
    'metadata.name: Invalid value: "a.b": must not contain dots',
  ]);
});

test('every kind whose status nobody may send has one from the start, for a patch to add to', () => {
  const fresh = { metadata: { name: 'a' }, spec: { template: { metadata: {} } } } as never;
  const without = kinds.filter((kind) => kind.subresources.includes('status') && !('status' in kind.prepareCreate(fresh)));
  assert.deepEqual(
    without.map(({ kind }) => kind),
    ['Node'],
  ); // kubelets send theirs
});
