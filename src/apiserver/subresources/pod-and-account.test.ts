import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });
const binding = (name: string, node: string, metadata: object = {}) => ({ metadata: { name, ...metadata }, target: { kind: 'Node', name: node } });

async function withPod(clock = new FakeClock()): Promise<InProcessServer> {
  const api = await inProcessServer({}, clock);
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  await api.call('POST', pods, { body: pod('p') });
  return api;
}

test('a binding gives a pod its node, says so in a condition, and does it once', async () => {
  await using api = await withPod();
  const bound = await api.call('POST', `${pods}/p/binding`, { body: binding('p', 'n1', { annotations: { a: 'b' } }) });
  assert.deepEqual([bound.status, bound.body.status, bound.body.code], [201, 'Success', 201]);
  const { body } = await api.call('GET', `${pods}/p`);
  assert.deepEqual([body.spec.nodeName, body.metadata.annotations], ['n1', { a: 'b' }]);
  assert.deepEqual(body.status.conditions, [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', observedGeneration: 1 },
  ]);
  const again = await api.call('POST', `${pods}/p/binding`, { body: binding('p', 'n2') });
  assert.deepEqual(
    [again.status, again.body.message],
    [409, 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'],
  );
});

test('a binding for another pod, another life or another kind is refused', async () => {
  await using api = await withPod();
  const other = await api.call('POST', `${pods}/p/binding`, { body: binding('q', 'n1') });
  assert.equal(other.body.message, 'name in URL does not match name in Binding object');
  assert.equal((await api.call('POST', `${pods}/p/binding`, { body: binding('p', 'n1', { uid: 'other' }) })).status, 409);
  const kind = await api.call('POST', `${pods}/p/binding`, { body: { metadata: { name: 'p' }, target: { kind: 'Pod', name: 'n1' } } });
  assert.match(kind.body.message, /target\.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"$/);
  assert.equal((await api.call('POST', `${pods}/none/binding`, { body: binding('none', 'n1') })).status, 404);
});

test('given a binding to a node with a zone and a region, then the pod has them too, and the labels of the binding', async () => {
  await using api = await withPod();
  const place = { 'topology.kubernetes.io/zone': 'z1', 'topology.kubernetes.io/region': 'r1' };
  await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1', labels: { ...place, other: 'x' } } } });
  const { status } = await api.call('POST', `${pods}/p/binding`, { body: binding('p', 'n1', { labels: { mine: 'y' } }) });
  assert.deepEqual([status, (await api.call('GET', `${pods}/p`)).body.metadata.labels], [201, { mine: 'y', ...place }]);
});

test('given a pod that is gated, being deleted, or in another life, then a binding is refused with 409', async () => {
  await using api = await withPod();
  await api.call('POST', pods, { body: pod('gated', { schedulingGates: [{ name: 'a.b/c' }] }) });
  const refusal = async (name: string, metadata: object = {}) => {
    const { status, body } = await api.call('POST', `${pods}/${name}/binding`, { body: binding(name, 'n1', metadata) });
    return [status, body.message];
  };
  const begin = (name: string) => `Operation cannot be fulfilled on pods/binding "${name}": pod ${name}`;
  assert.deepEqual(await refusal('gated'), [409, `${begin('gated')} has non-empty .spec.schedulingGates`]);
  assert.deepEqual((await refusal('p', { resourceVersion: '1' }))[0], 409);
  const merge = { 'content-type': 'application/merge-patch+json' };
  await api.call('PATCH', `${pods}/p`, { body: { metadata: { finalizers: ['a.b/c'] } }, headers: merge });
  await api.call('DELETE', `${pods}/p`);
  assert.deepEqual(await refusal('p'), [409, `${begin('p')} is being deleted, cannot be assigned to a host`]);
});

test('given a foreign finalizer through /finalize, then it is kept until taken away there; another name is refused', async () => {
  await using api = await inProcessServer({}, new FakeClock());
  const url = '/api/v1/namespaces/t';
  const { body: made } = await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 't' } } });
  const finalize = (finalizers: readonly string[]) =>
    api.call('PUT', `${url}/finalize`, { body: { ...made, metadata: { name: 't' }, spec: { finalizers } } });
  const refused = await finalize(['unqualified']);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [
      422,
      'Namespace "t" is invalid: spec.finalizers[0]: Invalid value: "unqualified": name is neither a standard finalizer name nor is it fully qualified',
    ],
  );
  assert.deepEqual((await finalize(['kubernetes', 'a.b/c'])).body.spec.finalizers, ['kubernetes', 'a.b/c']);
  await api.call('DELETE', url);
  assert.deepEqual((await finalize(['a.b/c'])).body.spec.finalizers, ['a.b/c']);
  assert.equal((await finalize([])).status, 200);
  assert.equal((await api.call('GET', url)).status, 404);
});

test('given a namespace status with a condition of somebody, then it is kept; a phase that is not true is refused', async () => {
  await using api = await inProcessServer({}, new FakeClock());
  await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 't' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patch = (status: object) => api.call('PATCH', '/api/v1/namespaces/t/status', { body: { status }, headers });
  const conditions = [{ type: 'Mine', status: 'True' }];
  assert.deepEqual((await patch({ conditions })).body.status, { phase: 'Active', conditions });
  assert.match((await patch({ phase: 'Terminating' })).body.message, /may only be 'Active' if `deletionTimestamp` is empty$/);
});

test('a token for a pod names it and is good until the pod is gone', async () => {
  const clock = new FakeClock();
  await using api = await withPod(clock);
  const { body: ofPod } = await api.call('GET', `${pods}/p`);
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: ofPod.metadata.uid };
  const answer = await api.call('POST', `${accounts}/default/token`, { body: { spec: { boundObjectRef, expirationSeconds: 3607 } } });
  assert.equal(answer.status, 201);
  const claims = decodeJwt(answer.body.status.token);
  const nowSeconds = clock.now() / 1000;
  const { pod: claimed, warnafter } = claims['kubernetes.io'] as { readonly pod: object; readonly warnafter: number };
  assert.deepEqual(
    [claims.sub, claimed, warnafter],
    ['system:serviceaccount:default:default', { name: 'p', uid: ofPod.metadata.uid }, nowSeconds + 3607],
  );
  assert.deepEqual([claims.exp, answer.body.status.expirationTimestamp], [nowSeconds + 31_536_000, '2030-01-01T01:00:07Z']);
  const review = () => api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: { token: answer.body.status.token } } });
  const good = await review();
  assert.deepEqual([good.body.status.authenticated, good.body.status.user.username], [true, 'system:serviceaccount:default:default']);
  await api.call('DELETE', `${pods}/p`);
  const error = '[invalid bearer token, service account token has been invalidated]';
  assert.deepEqual((await review()).body.status, { authenticated: false, user: {}, error });
});
