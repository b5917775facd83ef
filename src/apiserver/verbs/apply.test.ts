import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const merge = { 'content-type': 'application/merge-patch+json' };
const applyHeaders = { 'content-type': 'application/apply-patch+yaml' };
const configMap = (data: object | undefined, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
});

interface Owner {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: object;
}

/** Which manager owns what, in short. */
function ownersOf(body: { readonly metadata: { readonly managedFields?: readonly Owner[] } }): Readonly<Record<string, object>> {
  const entries = body.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      `${operation} ${manager}${subresource === undefined ? '' : `/${subresource}`}`,
      fieldsV1,
    ]),
  );
}

function apply(api: InProcessServer, manager: string, body: unknown, query = '', url = `${configMaps}/a`) {
  return api.call('PATCH', `${url}?fieldManager=${manager}${query}`, { body, headers: applyHeaders });
}

async function withAccount(): Promise<InProcessServer> {
  const api = await inProcessServer();
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  return api;
}

test('an apply creates what is not there with 201, and owns what it named: defaults are nobody’s', async () => {
  await using api = await withAccount();
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const created = await apply(api, 'm', body, '', `${pods}/p`);
  assert.deepEqual([created.status, created.body.spec.restartPolicy], [201, 'Always']);
  const container = { '.': {}, 'f:image': {}, 'f:name': {} };
  assert.deepEqual(ownersOf(created.body), { 'Apply m': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': container } } } });
  assert.equal((await apply(api, 'm', body, '', `${pods}/p`)).status, 200);
});

test('25: given apply by A and another value by B, then B gets 409 with the field as cause; with force B owns it', async () => {
  await using api = await inProcessServer();
  await apply(api, 'a', configMap({ replicas: '3' }));
  const refused = await apply(api, 'b', configMap({ replicas: '5' }));
  assert.deepEqual(
    [refused.status, refused.body.reason, refused.body.message],
    [409, 'Conflict', 'Apply failed with 1 conflict: conflict with "a": .data.replicas'],
  );
  assert.deepEqual(refused.body.details, {
    causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.data.replicas' }],
  });
  const forced = await apply(api, 'b', configMap({ replicas: '5' }), '&force=true');
  assert.deepEqual([forced.status, forced.body.data], [200, { replicas: '5' }]);
  assert.deepEqual(ownersOf(forced.body), { 'Apply b': { 'f:data': { 'f:replicas': {} } } });
});

test('26: given A re-applies without a field, then it goes when only A owned it and stays when B owns it too', async () => {
  await using api = await inProcessServer();
  await apply(api, 'a', configMap({ mine: '1', ours: '2' }));
  await apply(api, 'b', configMap({ ours: '2' }));
  const { body } = await apply(api, 'a', configMap({ other: '3' }));
  assert.deepEqual(body.data, { ours: '2', other: '3' });
});

test('27: given apply of the same, then nothing is written: revision and times stay', async () => {
  await using api = await inProcessServer();
  const { body: first } = await apply(api, 'a', configMap({ k: 'v' }));
  const { body: second } = await apply(api, 'a', configMap({ k: 'v' }));
  assert.deepEqual(second, first);
});

test('1: given the stored content in a PUT by another manager, then nothing is written and the owners stay', async () => {
  await using api = await inProcessServer();
  const { body: first } = await api.call('POST', `${configMaps}?fieldManager=a`, { body: configMap({ k: 'v' }) });
  const { body: second } = await api.call('PUT', `${configMaps}/a?fieldManager=b`, { body: first });
  assert.deepEqual(second, first);
});

test('63: given [] as managedFields in a PUT, then ownership is reset; given null or none, it is kept', async () => {
  await using api = await inProcessServer();
  const { body: first } = await api.call('POST', `${configMaps}?fieldManager=a`, { body: configMap({ k: 'v' }) });
  const owners = { 'Update a': { 'f:data': { '.': {}, 'f:k': {} } } };
  assert.deepEqual(ownersOf(first), owners);
  const put = (managedFields: unknown) => api.call('PUT', `${configMaps}/a?fieldManager=a`, { body: configMap({ k: 'v' }, { managedFields }) });
  assert.deepEqual(ownersOf((await put(null)).body), owners);
  assert.deepEqual(ownersOf((await put(undefined)).body), owners);
  assert.deepEqual(ownersOf((await put([{ manager: 'x' }])).body), owners);
  const { body: reset } = await put([]);
  assert.equal(reset.metadata.managedFields, undefined);
  const { body: later } = await api.call('PATCH', `${configMaps}/a?fieldManager=a`, { body: { data: { k: 'w' } }, headers: merge });
  assert.equal(later.metadata.managedFields, undefined);
  const { body: applied } = await apply(api, 'm', configMap({ k: 'w' }));
  assert.deepEqual(Object.keys(ownersOf(applied)), ['Apply m', 'Update before-first-apply']);
});

test('a client that may write the object may hand its fields to another manager', async () => {
  await using api = await inProcessServer();
  const { body: first } = await api.call('POST', `${configMaps}?fieldManager=a`, { body: configMap({ k: 'v' }) });
  const [entry] = first.metadata.managedFields;
  const patch = [{ op: 'replace', path: '/metadata/managedFields', value: [{ ...entry, manager: 'b', operation: 'Apply' }] }];
  const { body } = await api.call('PATCH', `${configMaps}/a?fieldManager=c`, {
    body: patch,
    headers: { 'content-type': 'application/json-patch+json' },
  });
  assert.deepEqual(ownersOf(body), { 'Apply b': { 'f:data': { '.': {}, 'f:k': {} } } });
});

test('65: given creationTimestamp null, then the object is accepted, also by an apply', async () => {
  await using api = await inProcessServer();
  const { status } = await api.call('POST', configMaps, { body: configMap({ k: 'v' }, { creationTimestamp: null }) });
  const applied = await apply(api, 'm', { ...configMap({ l: 'w' }, { creationTimestamp: null }), status: null }, '', `${configMaps}/a`);
  assert.deepEqual([status, applied.status], [201, 500]); // a ConfigMap has no status
  assert.equal((await apply(api, 'm', configMap({ l: 'w' }, { creationTimestamp: null }))).status, 200);
});

test('28: a status is written by its endpoint alone, which owns nothing else', async () => {
  await using api = await withAccount();
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await apply(api, 'm', { ...pod, status: { phase: 'Failed' } }, '', `${pods}/p`);
  const main = await apply(api, 'm', { ...pod, status: { phase: 'Failed' } }, '', `${pods}/p`);
  assert.deepEqual([main.body.status.phase, Object.keys(ownersOf(main.body)['Apply m'] ?? {})], ['Pending', ['f:spec']]);
  const change = { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'n' }, status: { message: 'x', conditions: [{ type: 'T', status: 'True' }] } };
  const patched = await api.call('PATCH', `${pods}/p/status?fieldManager=kubelet`, { body: change, headers: merge });
  assert.equal(patched.body.spec.nodeName, undefined);
  assert.deepEqual(ownersOf(patched.body)['Update kubelet/status'], {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"T"}': { '.': {}, 'f:status': {}, 'f:type': {} } }, 'f:message': {} },
  });
  const applied = await apply(api, 'c', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { message: 'y' } }, '', `${pods}/p/status`);
  assert.equal(applied.body.message, 'Apply failed with 1 conflict: conflict with "kubelet" with subresource "status" using v1: .status.message');
  const forced = await apply(
    api,
    'c',
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { message: 'y' } },
    '&force=1',
    `${pods}/p/status`,
  );
  assert.deepEqual([forced.body.status.message, ownersOf(forced.body)['Apply c/status']], ['y', { 'f:status': { 'f:message': {} } }]);
});

test('given a subresource that takes a part of a pod, then who patches it owns that part and nothing else', async () => {
  await using api = await withAccount();
  await api.call('POST', `${pods}?fieldManager=m`, {
    body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: '1Mi' } } }] } },
  });
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
  const status = { metadata: { ownerReferences: [owner] }, spec: { nodeName: 'n' }, status: { message: 'x' } };
  await api.call('PATCH', `${pods}/p/status?fieldManager=s`, { body: status, headers: merge });
  const ephemeral = { spec: { nodeName: 'n', ephemeralContainers: [{ name: 'd', image: 'i' }] } };
  const { body } = await api.call('PATCH', `${pods}/p/ephemeralcontainers?fieldManager=e`, { body: ephemeral, headers: merge });
  assert.deepEqual(ownersOf(body)['Update s/status'], { 'f:status': { 'f:message': {} } });
  assert.deepEqual(Object.keys(ownersOf(body)['Update e/ephemeralcontainers'] ?? {}), ['f:spec']);
  const [owned] = Object.values(ownersOf(body)['Update e/ephemeralcontainers'] ?? {});
  assert.deepEqual(Object.keys(owned), ['f:ephemeralContainers']);
  const resources = { requests: { cpu: '1' } };
  const resized = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'other', resources }] } };
  const applied = await apply(api, 'r', resized, '', `${pods}/p/resize`);
  assert.deepEqual([applied.status, applied.body.spec?.containers[0].image], [200, 'i'], applied.body.message);
  assert.deepEqual(ownersOf(applied.body)['Apply r/resize'], {
    'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:resources': { 'f:requests': { 'f:cpu': {} } } } } },
  });
});

test('what binds a pod owns nothing of it', async () => {
  await using api = await withAccount();
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { body: before } = await api.call('POST', `${pods}?fieldManager=m`, { body: pod });
  await api.call('POST', `${pods}/p/binding?fieldManager=scheduler`, { body: { metadata: { name: 'p' }, target: { name: 'n' } } });
  const { body: after } = await api.call('GET', `${pods}/p`);
  assert.deepEqual([after.spec.nodeName, after.metadata.managedFields], ['n', before.metadata.managedFields]);
});

test('an apply needs a manager, its force is a choice of applies alone', async () => {
  await using api = await inProcessServer();
  const nameless = await api.call('PATCH', `${configMaps}/a`, { body: configMap({}), headers: applyHeaders });
  assert.deepEqual(
    [nameless.status, nameless.body.message],
    [422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
  );
  const forced = await api.call('PATCH', `${configMaps}/a?force=true`, { body: {}, headers: merge });
  assert.equal(forced.body.message, 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch');
  const bell = await apply(api, 'a%07', configMap({}));
  assert.equal(
    bell.body.message,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\a": invalid character U+0007 (at position 1)',
  );
});

test('what cannot be applied is refused in upstream’s words', async () => {
  await using api = await inProcessServer();
  const refusal = async (body: unknown, query = '') => {
    const answer = await apply(api, 'm', body, query);
    return [answer.status, answer.body.reason, answer.body.message];
  };
  assert.deepEqual(await refusal({ ...configMap({}), apiVersion: 'v2' }), [
    400,
    'BadRequest',
    'Incorrect version specified in apply patch. Specified patch version: v2, expected: v1',
  ]);
  assert.deepEqual(await refusal(configMap({}, { managedFields: [] })), [400, 'BadRequest', 'metadata.managedFields must be nil']);
  assert.deepEqual(await refusal({ ...configMap({}, { namespace: 'default' }), foo: 1 }), [
    500,
    undefined,
    'failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .foo: field not declared in schema',
  ]);
  assert.deepEqual(await refusal(configMap({}, { name: 'b' })), [
    400,
    'BadRequest',
    'the name of the object (b) does not match the name on the URL (a)',
  ]);
  assert.deepEqual(await refusal(configMap({}, { name: undefined })), [
    400,
    'BadRequest',
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ]);
  assert.deepEqual(await refusal(configMap({}, { uid: 'x' })), [
    409,
    'Conflict',
    'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid x, and no existing object was found',
  ]);
  assert.match(String((await refusal('a: [')).at(-1)), /^error decoding YAML: error converting YAML to JSON: yaml: /);
  const twice = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  foo: bar\n  foo: baz\n';
  assert.deepEqual(await refusal(twice, '&fieldValidation=Strict'), [
    400,
    'BadRequest',
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "foo" already set in map',
  ]);
  assert.equal((await apply(api, 'm', twice)).status, 201);
});

test('who may patch but not create gets 403 when an apply would create', async () => {
  await using api = await inProcessServer();
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }];
  await api.call('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'patcher' }, rules } });
  const subjects = [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { kind: 'ClusterRole', name: 'patcher', apiGroup: 'rbac.authorization.k8s.io' };
  await api.call('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name: 'jane' }, subjects, roleRef } });
  const asJane = () =>
    api.call('PATCH', `${configMaps}/a?fieldManager=m`, { body: configMap({ k: 'v' }), headers: applyHeaders, as: { name: 'jane' } });
  const refused = await asJane();
  assert.deepEqual([refused.status, /User "jane" cannot create resource "configmaps"/.test(refused.body.message)], [403, true]);
  await api.call('POST', configMaps, { body: configMap({}) });
  assert.equal((await asJane()).status, 200);
});

test('a revision in what is applied is a lock', async () => {
  await using api = await inProcessServer();
  const { body: first } = await apply(api, 'm', configMap({ k: 'v' }));
  const { body: second } = await apply(api, 'm', configMap({ k: 'w' }, { resourceVersion: first.metadata.resourceVersion }));
  assert.deepEqual(second.data, { k: 'w' });
  assert.equal((await apply(api, 'm', configMap({ k: 'x' }, { resourceVersion: first.metadata.resourceVersion }))).status, 409);
});

test('a dry run tells the conflict and the result, and stores nothing', async () => {
  await using api = await inProcessServer();
  const created = await apply(api, 'm', configMap({ k: 'v' }), '&dryRun=All');
  assert.deepEqual([created.status, created.body.metadata.managedFields.length], [201, 1]);
  assert.equal((await api.call('GET', `${configMaps}/a`)).status, 404);
});

test('applies that race all arrive', async () => {
  await using api = await inProcessServer();
  const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
  const answers = await Promise.all(names.map((name) => apply(api, name, configMap({ [name]: 'v' }))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array.from({ length: 9 }, () => 200), 201]);
  const { body } = await api.call('GET', `${configMaps}/a`);
  assert.deepEqual(Object.keys(body.data).sort(), names);
});

test('given an object that its owners make too large to store, then it is stored without them; an apply is refused', async () => {
  await using api = await inProcessServer();
  const annotations = { big: 'x'.repeat(200_000) };
  // Each key stands in the object and, several times as long as its value, among the owners.
  const keys = Array.from({ length: 4_000 }, (_, index) => `${String(index).padStart(4, '0')}${'k'.repeat(180)}`);
  const body = configMap(Object.fromEntries(keys.map((key) => [key, ''])), { annotations });
  const created = await api.call('POST', `${configMaps}?fieldManager=a`, { body });
  assert.deepEqual([created.status, created.body.metadata.managedFields], [201, undefined]);
  const applied = await apply(api, 'm', { ...body, metadata: { ...body.metadata, name: 'b' } }, '', `${configMaps}/b`);
  assert.deepEqual([applied.status, applied.body.reason, applied.body.message], [500, undefined, 'etcdserver: request is too large']);
});
