import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '#api/kinds/index.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { encodeProtobuf } from '#api/schema/protobuf/encode.ts';
import { encodeEnvelope } from '#api/schema/protobuf/envelope.ts';
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

test('given a second delete without a period, then the period that was given before stays', async () => {
  const { api } = await withAccount();
  await using _ = api;
  await api.call('POST', pods, { body: pod('p') });
  await api.call('POST', `${pods}/p/binding`, { body: bind });
  const first = await api.call('DELETE', `${pods}/p?gracePeriodSeconds=60`);
  const second = await api.call('DELETE', `${pods}/p`);
  assert.deepEqual([first.body.metadata.deletionGracePeriodSeconds, second.body], [60, first.body]);
});

test('given a dry run of a delete, then the answer is that of a delete and the object stays as it is', async () => {
  const { api } = await withAccount();
  await using _ = api;
  const { body: created } = await api.call('POST', pods, { body: pod('p') });
  const whole = await api.call('DELETE', `${pods}/p?dryRun=All`);
  assert.deepEqual([whole.status, whole.body.metadata.deletionGracePeriodSeconds], [200, 0]);
  const held = await api.call('DELETE', `${pods}/p`, { body: { dryRun: ['All'], propagationPolicy: 'Foreground' } });
  assert.deepEqual(held.body.metadata.finalizers, ['foregroundDeletion']);
  assert.deepEqual((await api.call('GET', `${pods}/p`)).body, created);
  const maps = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', maps, { body: { metadata: { name: 'a' } } });
  assert.equal((await api.call('DELETE', `${maps}/a?dryRun=All`)).body.details.name, 'a');
  assert.equal((await api.call('DELETE', `${maps}?dryRun=All`)).body.items.length, 1);
  assert.equal((await api.call('GET', `${maps}/a`)).status, 200);
  const wrong = await api.call('DELETE', `${maps}/a?dryRun=Some&propagationPolicy=X&orphanDependents=true`);
  assert.equal(
    wrong.body.message,
    'DeleteOptions.meta.k8s.io "" is invalid: [propagationPolicy: Invalid value: "X": orphanDependents and deletionPropagation cannot be both set, ' +
      'propagationPolicy: Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil", ' +
      'dryRun: Unsupported value: ["Some"]: supported values: "All"]',
  );
});

test('given options of any group in any format, or nothing at all, then they are read', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  const deleteWith = async (body: unknown, contentType?: string) => {
    await api.call('POST', url, { body: { metadata: { name: 'a', finalizers: [] } } });
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const { status, body: answer } = await api.call('DELETE', `${url}/a`, { body, headers });
    await api.call('DELETE', `${url}/a`, { body: { propagationPolicy: 'Background' } });
    return [status, answer.metadata.finalizers];
  };
  assert.deepEqual(await deleteWith(undefined), [200, undefined]);
  assert.deepEqual(await deleteWith({}, 'application/json'), [200, undefined]);
  assert.deepEqual(await deleteWith({ kind: 'DeleteOptions', apiVersion: 'apps/v1', propagationPolicy: 'Foreground' }), [
    200,
    ['foregroundDeletion'],
  ]);
  assert.deepEqual(await deleteWith({ kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Orphan' }), [200, ['orphan']]);
  assert.deepEqual(await deleteWith('kind: DeleteOptions\napiVersion: v1\norphanDependents: true\n', 'application/yaml'), [200, ['orphan']]);
  const protobuf = encodeEnvelope({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    raw: encodeProtobuf(schemaOf('meta.v1.DeleteOptions'), { propagationPolicy: 'Foreground' }),
    contentType: '',
  });
  assert.deepEqual(await deleteWith(protobuf, 'application/vnd.kubernetes.protobuf'), [200, ['foregroundDeletion']]);
});

test('given orphanDependents false and something that holds the object, then the answer is 202', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', url, { body: { metadata: { name: 'a', finalizers: ['example.com/hold'] } } });
  assert.equal((await api.call('DELETE', `${url}/a`)).status, 200);
  assert.equal((await api.call('DELETE', `${url}/a`, { body: { orphanDependents: false } })).status, 202);
});

test('given a kind whose dependents are left by default, then its delete orphans them and says so', async () => {
  const warning = 'child pods are preserved by default when jobs are deleted';
  const odd = kinds.map((kind) =>
    kind.plural === 'configmaps' ? { ...kind, defaultPropagation: 'Orphan' as const, defaultPropagationWarning: warning } : kind,
  );
  await using api = await inProcessServer({ kinds: odd });
  const url = '/api/v1/namespaces/default/configmaps';
  for (const name of ['a', 'b']) await api.call('POST', url, { body: { metadata: { name } } });
  const plain = await api.call('DELETE', `${url}/a`);
  assert.deepEqual([plain.body.metadata.finalizers, plain.headers['warning']], [['orphan'], `299 - "${warning}"`]);
  assert.equal((await api.call('DELETE', `${url}/b`, { body: { propagationPolicy: 'Background' } })).headers['warning'], undefined);
  assert.equal((await api.call('DELETE', url)).headers['warning'], `299 - "${warning}"`);
});

test('given a precondition that does not hold, then 409 names the kind, for a namespace its resource', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  const { body } = await api.call('POST', url, { body: { metadata: { name: 'a' } } });
  const { uid, resourceVersion } = body.metadata;
  const messageFor = async (path: string, preconditions: object) => {
    const { status, body: answer } = await api.call('DELETE', path, { body: { preconditions } });
    return [status, answer.message];
  };
  assert.deepEqual(await messageFor(`${url}/a`, { uid: 'x' }), [
    409,
    `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
  ]);
  assert.deepEqual(await messageFor(`${url}/a`, { resourceVersion: '1' }), [
    409,
    `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
  ]);
  const { body: namespace } = await api.call('GET', '/api/v1/namespaces/default');
  assert.deepEqual(await messageFor('/api/v1/namespaces/default', { uid: 'x' }), [
    409,
    `Operation cannot be fulfilled on namespaces "default": Precondition failed: UID in precondition: x, UID in object meta: ${namespace.metadata.uid}`,
  ]);
});

test('given a limit, then a deletecollection deletes one page and says where it goes on', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/configmaps';
  for (const name of ['a', 'b', 'c']) await api.call('POST', url, { body: { metadata: { name } } });
  const first = await api.call('DELETE', `${url}?limit=2`);
  assert.deepEqual([first.body.items.length, first.body.metadata.remainingItemCount], [2, 1]);
  const named = await api.call('DELETE', `${url}?fieldSelector=metadata.name%3Dx`);
  assert.deepEqual([named.status, named.body.items], [200, []]);
  assert.deepEqual((await api.call('GET', url)).body.items.length, 1);
});
