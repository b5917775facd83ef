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
