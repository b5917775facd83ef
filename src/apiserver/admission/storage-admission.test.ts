import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const volumes = '/api/v1/persistentvolumes';
const merge = { 'content-type': 'application/merge-patch+json' };
const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const aClass = (name: string, isDefault: boolean, more: object = {}) => ({
  metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
  provisioner: 'example.com/p',
  ...more,
});
const classOf = async (api: InProcessServer, body: object) => (await api.call('POST', claims, { body })).body.spec.storageClassName;

test('a claim without a class is of the youngest default one; one with an empty class is of none', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  assert.equal(await classOf(api, claim('before')), undefined);
  await api.call('POST', classes, { body: aClass('plain', false) });
  await api.call('POST', classes, { body: aClass('old', true) });
  await clock.advance(5_000);
  await api.call('POST', classes, { body: aClass('new-b', true) });
  await api.call('POST', classes, { body: aClass('new-a', true) });
  assert.equal(await classOf(api, claim('default')), 'new-a');
  assert.equal(await classOf(api, claim('none', { storageClassName: '' })), '');
  assert.equal(await classOf(api, claim('own', { storageClassName: 'plain' })), 'plain');
});

test('claims and volumes in use are kept by finalizers', async () => {
  await using api = await inProcessServer();
  const { body: made } = await api.call('POST', claims, { body: claim('c') });
  assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pvc-protection']);
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  const { body: volume } = await api.call('POST', volumes, { body: { metadata: { name: 'v', finalizers: ['example.com/x'] }, spec } });
  assert.deepEqual(volume.metadata.finalizers, ['example.com/x', 'kubernetes.io/pv-protection']);
  const { body: marked } = await api.call('DELETE', `${claims}/c`);
  assert.ok(marked.metadata.deletionTimestamp);
});

test('a claim grows when it is bound and its class lets it', async () => {
  await using api = await inProcessServer();
  await api.call('POST', classes, { body: aClass('fixed', false) });
  await api.call('POST', classes, { body: aClass('growing', false, { allowVolumeExpansion: true }) });
  for (const name of ['fixed', 'growing']) await api.call('POST', claims, { body: claim(name, { storageClassName: name }) });
  const grow = (name: string) =>
    api.call('PATCH', `${claims}/${name}`, { body: { spec: { resources: { requests: { storage: '2Gi' } } } }, headers: merge });
  const bind = (name: string) => api.call('PATCH', `${claims}/${name}/status`, { body: { status: { phase: 'Bound' } }, headers: merge });
  assert.equal((await grow('growing')).status, 422);
  for (const name of ['fixed', 'growing']) await bind(name);
  const refused = await grow('fixed');
  assert.deepEqual(
    [refused.status, refused.body.message],
    [
      403,
      'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the ' +
        'pvc must support resize',
    ],
  );
  assert.equal((await grow('growing')).body.spec.resources.requests.storage, '2Gi');
});

test('a volume says since when it is in its phase', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  const { body: made } = await api.call('POST', volumes, { body: { metadata: { name: 'v' }, spec } });
  assert.deepEqual(made.status, { phase: 'Pending', lastPhaseTransitionTime: made.metadata.creationTimestamp });
  await clock.advance(5_000);
  const { body: bound } = await api.call('PATCH', `${volumes}/v/status`, { body: { status: { phase: 'Bound' } }, headers: merge });
  assert.equal(Date.parse(bound.status.lastPhaseTransitionTime) - Date.parse(made.metadata.creationTimestamp), 5_000);
});

test('a pod carries the overhead of its runtime and goes where the runtime is', async () => {
  await using api = await inProcessServer();
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const scheduling = { nodeSelector: { runtime: 'sandboxed' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] };
  const body = { metadata: { name: 'sandboxed' }, handler: 'runsc', overhead: { podFixed: { cpu: '100m' } }, scheduling };
  await api.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', { body });
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (spec: object) => ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });
  const post = async (spec: object, query = '') => await api.call('POST', `${pods}${query}`, { body: pod(spec) });
  const { body: made } = await post({ runtimeClassName: 'sandboxed', nodeSelector: { disk: 'ssd' } });
  assert.deepEqual([made.spec.overhead, made.spec.nodeSelector], [{ cpu: '100m' }, { runtime: 'sandboxed', disk: 'ssd' }]);
  assert.ok(made.spec.tolerations.some(({ key }: { readonly key: string }) => key === 'sandbox'));
  const missing = await post({ runtimeClassName: 'none' }, '?dryRun=All');
  assert.deepEqual([missing.status, missing.body.message], [403, 'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found']);
  const other = await post({ runtimeClassName: 'sandboxed', overhead: { cpu: '1' } });
  assert.match(other.body.message, /: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead$/);
  const conflict = await post({ runtimeClassName: 'sandboxed', nodeSelector: { runtime: 'other' } });
  assert.match(
    conflict.body.message,
    /: conflict: runtimeClass\.scheduling\.nodeSelector\[runtime\] = sandboxed; pod\.spec\.nodeSelector\[runtime\] = other$/,
  );
  const alone = await post({ overhead: { cpu: '1' } });
  assert.match(alone.body.message, /: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead$/);
});
