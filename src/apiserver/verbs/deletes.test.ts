import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer, take } from '../testing/in-process-server.ts';

const merge = { 'content-type': 'application/merge-patch+json' };
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });
const withAccount = async (clock = new FakeClock()) => {
  const api = await inProcessServer({}, clock);
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  return { api, clock };
};
const bind = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };

test('a pod without a node goes at once: watchers see it marked, then deleted', async () => {
  const { api } = await withAccount();
  await using _ = api;
  const { body } = await api.call('POST', pods, { body: pod('p') });
  const stop = new AbortController();
  const events = api.watch(`${pods}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, stop.signal);
  const first = take(events, 2);
  const deleted = await api.call('DELETE', `${pods}/p`);
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Pod']);
  const [marked, gone] = await first;
  assert.deepEqual([marked?.type, marked?.object.metadata.deletionGracePeriodSeconds, gone?.type], ['MODIFIED', 0, 'DELETED']);
  assert.equal((await api.call('GET', `${pods}/p`)).status, 404);
  stop.abort();
});

test('a pod on a node is marked; the period may only become shorter; its kubelet ends it', async () => {
  const { api, clock } = await withAccount();
  await using _ = api;
  await api.call('POST', pods, { body: pod('p') });
  await api.call('POST', `${pods}/p/binding`, { body: bind });
  const metadataAfter = async (seconds?: number) => {
    const body = seconds === undefined ? {} : { gracePeriodSeconds: seconds };
    return (await api.call('DELETE', `${pods}/p`, { body })).body.metadata;
  };
  const startMs = clock.now();
  const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString().replace('.000', '');
  const first = await metadataAfter();
  assert.deepEqual([first.deletionTimestamp, first.deletionGracePeriodSeconds, first.generation], [at(30), 30, 2]);
  const shorter = await metadataAfter(5);
  assert.deepEqual([shorter.deletionTimestamp, shorter.deletionGracePeriodSeconds], [at(5), 5]);
  const longer = await metadataAfter(60);
  assert.deepEqual([longer.deletionTimestamp, longer.deletionGracePeriodSeconds, longer.resourceVersion], [at(5), 5, shorter.resourceVersion]);
  const other = await api.call('DELETE', `${pods}/p`, { body: { gracePeriodSeconds: 0, preconditions: { uid: 'other' } } });
  assert.deepEqual(
    [other.status, /^Operation cannot be fulfilled on Pod "p": the UID in the precondition \(other\)/.test(other.body.message)],
    [409, true],
  );
  await metadataAfter(0);
  assert.equal((await api.call('GET', `${pods}/p`)).status, 404);
});

test('an object with a finalizer stays until it is taken away', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', url, { body: { metadata: { name: 'a', finalizers: ['example.com/hold'] } } });
  const deleted = await api.call('DELETE', `${url}/a`);
  assert.deepEqual([deleted.status, deleted.body.kind, deleted.body.metadata.deletionGracePeriodSeconds], [200, 'ConfigMap', 0]);
  const more = await api.call('PATCH', `${url}/a`, { body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }, headers: merge });
  assert.equal(more.status, 422);
  const freed = await api.call('PATCH', `${url}/a`, { body: { metadata: { finalizers: null } }, headers: merge });
  assert.equal(freed.status, 200);
  assert.equal((await api.call('GET', `${url}/a`)).status, 404);
});

test('how dependents are to go becomes a finalizer', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', url, { body: { metadata: { name: 'a' } } });
  const { body } = await api.call('DELETE', `${url}/a?propagationPolicy=Foreground`);
  assert.deepEqual(body.metadata.finalizers, ['foregroundDeletion']);
  const orphan = await api.call('DELETE', `${url}/a?propagationPolicy=Orphan`);
  assert.deepEqual(orphan.body.metadata.finalizers, ['orphan']);
  const unknown = await api.call('DELETE', `${url}/a?propagationPolicy=Some`);
  assert.equal(
    unknown.body.message,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
});

test('what is removed is answered with a status that names it', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  const { body } = await api.call('POST', url, { body: { metadata: { name: 'a' } } });
  const deleted = await api.call('DELETE', `${url}/a`, { body: {} });
  assert.deepEqual(deleted.body.details, { name: 'a', kind: 'configmaps', uid: body.metadata.uid });
});

test('a namespace terminates until it is finalized, and takes nothing new', async () => {
  await using api = await inProcessServer();
  const { body: created } = await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 't' } } });
  assert.deepEqual([created.status, created.spec], [{ phase: 'Active' }, { finalizers: ['kubernetes'] }]);
  const deleted = await api.call('DELETE', '/api/v1/namespaces/t');
  assert.deepEqual([deleted.status, deleted.body.status.phase], [200, 'Terminating']);
  const late = await api.call('POST', '/api/v1/namespaces/t/configmaps', { body: { metadata: { name: 'a' } } });
  assert.deepEqual(
    [late.status, late.body.message, late.body.details.causes],
    [
      403,
      'configmaps "a" is forbidden: unable to create new content in namespace t because it is being terminated',
      [{ reason: 'NamespaceTerminating', message: 'namespace t is being terminated', field: 'metadata.namespace' }],
    ],
  );
  const finalized = await api.call('PUT', '/api/v1/namespaces/t/finalize', { body: { ...deleted.body, spec: { finalizers: [] } } });
  assert.equal(finalized.status, 200);
  assert.equal((await api.call('GET', '/api/v1/namespaces/t')).status, 404);
  const missing = await api.call('POST', '/api/v1/namespaces/t/configmaps', { body: { metadata: { name: 'a' } } });
  assert.deepEqual([missing.status, missing.body.message], [404, 'namespaces "t" not found']);
  const system = await api.call('DELETE', '/api/v1/namespaces/kube-system');
  assert.equal(system.body.message, 'namespaces "kube-system" is forbidden: this namespace may not be deleted');
});

test('a collection is deleted by its selector, others stay', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  for (const [name, app] of [
    ['a', 'x'],
    ['b', 'x'],
    ['c', 'y'],
  ])
    await api.call('POST', url, { body: { metadata: { name, labels: { app } } } });
  const deleted = await api.call('DELETE', `${url}?labelSelector=app%3Dx`);
  const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }) =>
    list.items.map(({ metadata }) => metadata.name);
  assert.deepEqual([deleted.status, deleted.body.kind, names(deleted.body)], [200, 'ConfigMapList', ['a', 'b']]);
  assert.deepEqual(names((await api.call('GET', url)).body), ['c']);
});
