import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });

async function withAccount(): Promise<InProcessServer> {
  const api = await inProcessServer({}, new FakeClock());
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  return api;
}

test('given a pod with dots in its name, then its author is warned of the hostname, once', async () => {
  await using api = await withAccount();
  const created = await api.call('POST', pods, { body: pod('a.b') });
  const text =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]";
  assert.deepEqual([created.status, created.headers['warning']], [201, `299 - "${text}"`]);
  const changed = await api.call('PATCH', `${pods}/a.b`, { body: { metadata: { labels: { x: 'y' } } }, headers: merge });
  assert.deepEqual([changed.status, changed.headers['warning']], [200, undefined]);
});

test('given a pod posted with a generation, then it is 1; changes of the spec count, of metadata and status do not', async () => {
  await using api = await withAccount();
  const { body } = await api.call('POST', pods, { body: { ...pod('p'), metadata: { name: 'p', generation: 100 } } });
  const generationAfter = async (path: string, patch: object) =>
    (await api.call('PATCH', `${pods}/p${path}`, { body: patch, headers: strategic })).body.metadata.generation;
  assert.equal(body.metadata.generation, 1);
  assert.equal(await generationAfter('', { metadata: { labels: { a: 'b' }, generation: 7 } }), 1);
  assert.equal(await generationAfter('/status', { status: { message: 'm', observedGeneration: 1 } }), 1);
  assert.equal(await generationAfter('', { spec: { containers: [{ name: 'c', image: 'i:2' }] } }), 2);
  assert.equal(await generationAfter('', { spec: { activeDeadlineSeconds: 60 } }), 3);
  assert.equal(await generationAfter('/ephemeralcontainers', { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }), 4);
  assert.equal(
    await generationAfter('/resize', {
      spec: { containers: [{ name: 'c', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }] },
    }),
    5,
  );
});

test('given 500 rapid updates of a spec, then the generation is 501', async () => {
  await using api = await withAccount();
  await api.call('POST', pods, { body: pod('p') });
  for (let at = 0; at < 500; at++) {
    const image = `i:${at + 2}`;
    await api.call('PATCH', `${pods}/p`, { body: { spec: { containers: [{ name: 'c', image }] } }, headers: strategic });
  }
  assert.equal((await api.call('GET', `${pods}/p`)).body.metadata.generation, 501);
});

test('given a status update with spec, owners and labels, then only what belongs to the status endpoint is taken', async () => {
  await using api = await withAccount();
  const { body: created } = await api.call('POST', pods, { body: pod('p') });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const sent = {
    ...created,
    metadata: { ...created.metadata, ownerReferences: [owner], labels: { a: 'b' } },
    spec: { ...created.spec, nodeName: 'n' },
  };
  const { status, body } = await api.call('PUT', `${pods}/p/status`, { body: { ...sent, status: { ...created.status, phase: 'Running' } } });
  assert.deepEqual(
    [status, body.status.phase, body.status.qosClass, body.spec.nodeName, body.metadata.ownerReferences, body.metadata.labels],
    [200, 'Running', 'BestEffort', undefined, undefined, { a: 'b' }],
  );
  const other = await api.call('PATCH', `${pods}/p/status`, { body: { status: { qosClass: 'Guaranteed' } }, headers: merge });
  assert.deepEqual([other.status, other.body.message], [422, 'Pod "p" is invalid: status.qosClass: Invalid value: "Guaranteed": field is immutable']);
});

test('given a container that ended for good, then its status does not go back', async () => {
  await using api = await withAccount();
  await api.call('POST', pods, { body: pod('p', { restartPolicy: 'Never' }) });
  const statuses = (state: object) => ({
    status: { containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }] },
  });
  const patch = (state: object) => api.call('PATCH', `${pods}/p/status`, { body: statuses(state), headers: merge });
  assert.equal((await patch({ terminated: { exitCode: 1 } })).status, 200);
  const refused = await patch({ running: {} });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [422, 'Pod "p" is invalid: status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  );
});

test('given PATCH and PUT of pods/ephemeralcontainers, then the container is added and GET of it equals the pod', async () => {
  await using api = await withAccount();
  await api.call('POST', pods, { body: pod('p') });
  const url = `${pods}/p/ephemeralcontainers`;
  const first = await api.call('PATCH', url, { body: { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }, headers: strategic });
  assert.deepEqual([first.status, first.body.spec.ephemeralContainers[0].terminationMessagePolicy], [200, 'File']);
  const more = {
    ...first.body,
    spec: { ...first.body.spec, ephemeralContainers: [...first.body.spec.ephemeralContainers, { name: 'e', image: 'i' }] },
  };
  const second = await api.call('PUT', url, { body: more });
  assert.deepEqual([second.status, second.body.spec.ephemeralContainers.length], [200, 2]);
  assert.deepEqual((await api.call('GET', url)).body, (await api.call('GET', `${pods}/p`)).body);
  const onCreate = await api.call('POST', pods, { body: pod('q', { ephemeralContainers: [{ name: 'd', image: 'i' }] }) });
  assert.match(onCreate.body.message, /spec.ephemeralContainers: Forbidden: cannot be set on create/);
  const onPod = await api.call('PUT', `${pods}/p`, { body: first.body });
  assert.equal(onPod.status, 409);
});

test('given PATCH and PUT of pods/resize, then the container is resized and GET of it equals the pod', async () => {
  await using api = await withAccount();
  const resources = (cpu: string) => ({ requests: { cpu }, limits: { cpu: '1' } });
  await api.call('POST', pods, { body: pod('p', { containers: [{ name: 'c', image: 'i', resources: resources('100m') }] }) });
  const url = `${pods}/p/resize`;
  const first = await api.call('PATCH', url, { body: { spec: { containers: [{ name: 'c', resources: resources('200m') }] } }, headers: strategic });
  assert.deepEqual([first.status, first.body.spec.containers[0].resources.requests.cpu], [200, '200m']);
  const [container] = first.body.spec.containers;
  const put = { ...first.body, spec: { ...first.body.spec, containers: [{ ...container, image: 'other', resources: resources('300m') }] } };
  const second = await api.call('PUT', url, { body: put });
  assert.deepEqual([second.status, second.body.spec.containers[0].image, second.body.spec.containers[0].resources.requests.cpu], [200, 'i', '300m']);
  assert.deepEqual((await api.call('GET', url)).body, second.body);
});

test('given a pod deletecollection by label, then those go and others stay', async () => {
  await using api = await withAccount();
  for (const name of ['a', 'b', 'c'])
    await api.call('POST', pods, { body: { ...pod(name), metadata: { name, labels: { app: name === 'c' ? 'y' : 'x' } } } });
  const { status, body } = await api.call('DELETE', `${pods}?labelSelector=app%3Dx`, { body: { gracePeriodSeconds: 0 } });
  assert.deepEqual([status, body.kind, body.items.length], [200, 'PodList', 2]);
  assert.deepEqual(
    (await api.call('GET', pods)).body.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name),
    ['c'],
  );
});
