import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestsTo } from '../support/requests.ts';
import { startCluster } from '../support/start-cluster.ts';

/** Upstream’s conformance tests of the life of API objects, told again for a server without nodes; each test has the name of upstream’s. */
const cluster = await startCluster({ nodes: 0 });
const api = await requestsTo(cluster.kubeconfig);
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

const get = async (path: string) => await succeeded(api.call('GET', path), 200);
const create = async (path: string, body: object) => await succeeded(api.call('POST', path, { body }), 201);
const replace = async (path: string, body: object) => await succeeded(api.call('PUT', path, { body }), 200);
const patch = async (path: string, body: object, headers = strategic) => await succeeded(api.call('PATCH', path, { headers, body }), 200);
const remove = async (path: string, body?: object) => await succeeded(api.call('DELETE', path, { body }), 200);

async function succeeded(call: ReturnType<typeof api.call>, status: number) {
  const answer = await call;
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}

/** Follows one object of a collection until it is as wanted; its deletion shows as undefined. */
async function until(collection: string, name: string, accepted: (object: Any | undefined) => boolean): Promise<void> {
  const selector = `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  const { items, metadata } = await get(`${collection}?${selector}`);
  if (accepted(items[0])) return;
  const watch = `${collection}?watch=1&timeoutSeconds=20&${selector}&resourceVersion=${metadata.resourceVersion}`;
  await api.watch(watch, ({ type, object }) => accepted(type === 'DELETED' ? undefined : object));
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
type Any = any;

const isGone = (object: object | undefined) => object === undefined;

async function namespace(name: string): Promise<string> {
  await create('/api/v1/namespaces', { metadata: { name } });
  const path = `/api/v1/namespaces/${name}`;
  await until(`${path}/serviceaccounts`, 'default', (object) => object !== undefined);
  return path;
}

const podSpec = { containers: [{ name: 'test', image: 'registry.k8s.io/pause:3.10' }] };

test('Namespaces should patch a Namespace', async () => {
  const path = await namespace('patched');
  await patch(path, { metadata: { labels: { testLabel: 'testValue' } } });
  assert.equal((await get(path)).metadata.labels.testLabel, 'testValue');
});

test('Namespaces should apply an update to a Namespace', async () => {
  const path = await namespace('updated');
  const before = await get(path);
  const after = await replace(path, { ...before, metadata: { ...before.metadata, labels: { ...before.metadata.labels, updated: 'yes' } } });
  assert.deepEqual(after.metadata.labels, { 'kubernetes.io/metadata.name': 'updated', updated: 'yes' });
});

test('Namespaces should apply changes to a namespace status', async () => {
  const path = await namespace('status-changes');
  const shown = await get(`${path}/status`);
  assert.deepEqual([shown.kind, shown.status], ['Namespace', { phase: 'Active' }]);
  const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: `Set by the ${type}` });
  const patched = await patch(
    `${path}/status`,
    { metadata: { annotations: { e2e: 'patched' } }, status: { conditions: [condition('StatusPatch')] } },
    merge,
  );
  assert.deepEqual([patched.metadata.annotations, patched.status.conditions[0].reason], [{ e2e: 'patched' }, 'E2E']);
  const both = [...patched.status.conditions, condition('StatusUpdate')];
  const updated = await replace(`${path}/status`, { ...patched, status: { ...patched.status, conditions: both } });
  assert.deepEqual(
    updated.status.conditions.map(({ type }: Any) => type),
    ['StatusPatch', 'StatusUpdate'],
  );
  assert.equal((await get(path)).status.phase, 'Active');
});

// The content of a namespace is left alone for five seconds: these wait side by side.
describe('the end of a namespace', { concurrency: true }, () => {
  test('Namespaces should apply a finalizer to a Namespace', async () => {
    const path = await namespace('finalized');
    const before = await get(path);
    assert.deepEqual(before.spec.finalizers, ['kubernetes']);
    const finalizers = ['kubernetes', 'e2e.example.com/fakeFinalizer'];
    const added = await replace(`${path}/finalize`, { ...before, spec: { finalizers } });
    assert.deepEqual(added.spec.finalizers, finalizers);
    const removed = await replace(`${path}/finalize`, { ...added, spec: { finalizers: ['kubernetes'] } });
    assert.deepEqual(removed.spec.finalizers, ['kubernetes']);
    const ended = await succeeded(api.call('DELETE', path), 200);
    assert.deepEqual([ended.kind, ended.status.phase], ['Namespace', 'Terminating']);
    await until('/api/v1/namespaces', 'finalized', isGone);
  });

  test('Namespaces should ensure that all pods and services are removed when a namespace is deleted', async () => {
    const path = await namespace('emptied');
    await create(`${path}/pods`, { metadata: { name: 'test-pod' }, spec: podSpec });
    await create(`${path}/services`, { metadata: { name: 'test-service' }, spec: { selector: { a: 'b' }, ports: [{ port: 80, targetPort: 80 }] } });
    await remove(path);
    await until('/api/v1/namespaces', 'emptied', isGone);
    await namespace('emptied');
    for (const [kind, name] of [
      ['pods', 'test-pod'],
      ['services', 'test-service'],
    ]) {
      assert.equal((await api.call('GET', `${path}/${kind}/${name}`)).status, 404);
    }
  });

  test('OrderedNamespaceDeletion namespace deletion should delete pod first', async () => {
    const path = await namespace('ordered');
    await create(`${path}/pods`, { metadata: { name: 'held', finalizers: ['e2e.example.com/finalizer'] }, spec: podSpec });
    await create(`${path}/configmaps`, { metadata: { name: 'kept' }, data: { key: 'value' } });
    await remove(path);
    await until('/api/v1/namespaces', 'ordered', ({ status }: Any = {}) => status?.conditions !== undefined);
    const conditions = (await get(path)).status.conditions.map(({ type, status }: Any) => `${type}=${status}`);
    assert.deepEqual(conditions.toSorted(), [
      'NamespaceContentRemaining=True',
      'NamespaceDeletionContentFailure=False',
      'NamespaceDeletionDiscoveryFailure=False',
      'NamespaceDeletionGroupVersionParsingFailure=False',
      'NamespaceFinalizersRemaining=True',
    ]);
    assert.equal((await get(`${path}/configmaps/kept`)).metadata.deletionTimestamp, undefined);
    assert.notEqual((await get(`${path}/pods/held`)).metadata.deletionTimestamp, undefined);
    await patch(`${path}/pods/held`, [{ op: 'remove', path: '/metadata/finalizers' }], jsonPatch);
    await until('/api/v1/namespaces', 'ordered', isGone);
  });
});

interface Owner {
  readonly metadata: { readonly name: string; readonly uid: string };
}
const owner = ({ metadata }: Owner, more: object = {}) => ({ apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid, ...more });
const pod = (pods: string, name: string, owners: readonly object[] = [], finalizers: readonly string[] = []) =>
  create(pods, { metadata: { name, ownerReferences: owners, finalizers }, spec: podSpec });

test('Garbage collector should delete pods when not orphaning', async () => {
  const pods = `${await namespace('gc-background')}/pods`;
  const root = await pod(pods, 'root');
  await pod(pods, 'leaf', [owner(root)]);
  await remove(`${pods}/root`, { propagationPolicy: 'Background', preconditions: { uid: root.metadata.uid } });
  await until(pods, 'leaf', isGone);
  assert.equal((await api.call('GET', `${pods}/root`)).status, 404);
});

test('Garbage collector should orphan pods if delete options say so', async () => {
  const pods = `${await namespace('gc-orphan')}/pods`;
  const root = await pod(pods, 'root');
  await pod(pods, 'leaf', [owner(root)]);
  await remove(`${pods}/root`, { propagationPolicy: 'Orphan', preconditions: { uid: root.metadata.uid } });
  await until(pods, 'root', isGone);
  const leaf = await get(`${pods}/leaf`);
  assert.deepEqual([leaf.metadata.ownerReferences, leaf.metadata.deletionTimestamp], [undefined, undefined]);
});

test('Garbage collector should keep the owner around until all its pods are deleted if the deleteOptions says so', async () => {
  const pods = `${await namespace('gc-foreground')}/pods`;
  const root = await pod(pods, 'root');
  await pod(pods, 'leaf', [owner(root, { blockOwnerDeletion: true })], ['e2e.example.com/finalizer']);
  await remove(`${pods}/root`, { propagationPolicy: 'Foreground', preconditions: { uid: root.metadata.uid } });
  await until(pods, 'leaf', (object) => object?.metadata.deletionTimestamp !== undefined);
  const held = await get(`${pods}/root`);
  assert.deepEqual(held.metadata.finalizers, ['foregroundDeletion']);
  await patch(`${pods}/leaf`, [{ op: 'remove', path: '/metadata/finalizers' }], jsonPatch);
  await until(pods, 'root', isGone);
});

test('Garbage collector should not delete dependents that have both valid owner and owner that’s waiting for dependents to be deleted', async () => {
  const pods = `${await namespace('gc-two')}/pods`;
  const [leaving, staying] = [await pod(pods, 'leaving'), await pod(pods, 'staying')];
  await pod(pods, 'both', [owner(leaving, { blockOwnerDeletion: true }), owner(staying)]);
  await pod(pods, 'one', [owner(leaving, { blockOwnerDeletion: true })]);
  await remove(`${pods}/leaving`, { propagationPolicy: 'Foreground', preconditions: { uid: leaving.metadata.uid } });
  await until(pods, 'leaving', isGone);
  const both = await get(`${pods}/both`);
  assert.deepEqual([both.metadata.ownerReferences, both.metadata.deletionTimestamp], [[owner(staying)], undefined]);
  assert.equal((await api.call('GET', `${pods}/one`)).status, 404);
});

test('Garbage collector should not be blocked by dependency circle', async () => {
  const pods = `${await namespace('gc-circle')}/pods`;
  const circle = [await pod(pods, 'pod1'), await pod(pods, 'pod2'), await pod(pods, 'pod3')];
  const blocking = { controller: true, blockOwnerDeletion: true };
  for (const [index, of] of [2, 0, 1].entries()) {
    await patch(`${pods}/pod${index + 1}`, { metadata: { ownerReferences: [owner(circle[of], blocking)] } });
  }
  await remove(`${pods}/pod1`, { propagationPolicy: 'Foreground', preconditions: { uid: circle[0].metadata.uid } });
  for (const name of ['pod1', 'pod2', 'pod3']) await until(pods, name, isGone);
});

test('ResourceQuota should manage the lifecycle of a ResourceQuota', async () => {
  const quotas = `${await namespace('quota-life')}/resourcequotas`;
  const labels = { 'e2e-rq': 'yes' };
  await create(quotas, { metadata: { name: 'quota', labels }, spec: { hard: { cpu: '1', memory: '500Mi' } } });
  assert.deepEqual((await get(`${quotas}/quota`)).spec.hard, { cpu: '1', memory: '500Mi' });
  assert.equal((await get('/api/v1/resourcequotas?labelSelector=e2e-rq%3Dyes')).items.length, 1);
  const patched = await patch(`${quotas}/quota`, { metadata: { labels: { quota: 'patched' } }, spec: { hard: { memory: '750Mi' } } });
  assert.deepEqual([patched.metadata.labels.quota, patched.spec.hard.memory], ['patched', '750Mi']);
  await succeeded(api.call('DELETE', `${quotas}?labelSelector=e2e-rq%3Dyes`), 200);
  assert.equal((await get(`${quotas}?labelSelector=e2e-rq%3Dyes`)).items.length, 0);
});

test('ResourceQuota should be able to update and delete ResourceQuota.', async () => {
  const quotas = `${await namespace('quota-update')}/resourcequotas`;
  const made = await create(quotas, { metadata: { name: 'quota' }, spec: { hard: { cpu: '1', memory: '500Mi' } } });
  const updated = await replace(`${quotas}/quota`, { ...made, spec: { hard: { cpu: '2', memory: '1Gi' } } });
  assert.deepEqual(updated.spec.hard, { cpu: '2', memory: '1Gi' });
  await remove(`${quotas}/quota`);
  assert.equal((await api.call('GET', `${quotas}/quota`)).status, 404);
});

test('ResourceQuota should apply changes to a resourcequota status', async () => {
  const quotas = `${await namespace('quota-status')}/resourcequotas`;
  const made = await create(quotas, { metadata: { name: 'quota' }, spec: { hard: { cpu: '500m', memory: '500Mi' } } });
  const hard = { cpu: '750m', memory: '1Gi' };
  const written = await replace(`${quotas}/quota/status`, { ...made, spec: { hard: { cpu: '9' } }, status: { hard } });
  assert.deepEqual([written.status.hard, written.spec], [hard, made.spec]);
  const patched = await patch(`${quotas}/quota/status`, { metadata: { annotations: { e2e: 'yes' } }, status: { hard: { cpu: '1' } } }, merge);
  assert.deepEqual([patched.status.hard, patched.metadata.annotations], [{ cpu: '1', memory: '1Gi' }, { e2e: 'yes' }]);
  assert.deepEqual((await get(`${quotas}/quota/status`)).status.hard, { cpu: '1', memory: '1Gi' });
});
