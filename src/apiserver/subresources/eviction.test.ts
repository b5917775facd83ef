import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = { 'content-type': 'application/merge-patch+json' };

async function withPod(isRunning = true): Promise<InProcessServer> {
  const api = await inProcessServer({}, new FakeClock());
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const body = { metadata: { name: 'p', labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
  await api.call('POST', pods, { body });
  await api.call('POST', `${pods}/p/binding`, { body: { metadata: { name: 'p' }, target: { name: 'n1' } } });
  if (isRunning) await setStatus(api, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
  return api;
}

const setStatus = (api: InProcessServer, status: object) => api.call('PATCH', `${pods}/p/status`, { body: { status }, headers: merge });

async function withBudget(api: InProcessServer, name: string, status: object): Promise<void> {
  const made = await api.call('POST', budgets, { body: { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } } });
  assert.equal(made.status, 201, made.body.message);
  const told = await api.call('PATCH', `${budgets}/${name}/status`, { body: { status: { observedGeneration: 1, ...status } }, headers: merge });
  assert.equal(told.status, 200, told.body.message);
}

const evict = (api: InProcessServer, more: object = {}, query = '') =>
  api.call('POST', `${pods}/p/eviction${query}`, { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, ...more } });
const podOf = async (api: InProcessServer) => (await api.call('GET', `${pods}/p`)).body;

test('an eviction marks the pod and deletes it', async () => {
  await using api = await withPod();
  const evicted = await evict(api, { deleteOptions: { gracePeriodSeconds: 9 } });
  assert.deepEqual([evicted.status, evicted.body.status, evicted.body.code], [201, 'Success', 201]);
  const { metadata, status } = await podOf(api);
  const condition = status.conditions.find(({ type }: { readonly type: string }) => type === 'DisruptionTarget');
  assert.deepEqual(
    [condition.status, condition.reason, condition.message, metadata.deletionGracePeriodSeconds],
    ['True', 'EvictionByEvictionAPI', 'Eviction API: evicting', 9],
  );
});

test('the old version of the body is taken, another name and another version are not', async () => {
  await using api = await withPod();
  const wrong = await evict(api, { metadata: { name: 'q' } });
  assert.deepEqual([wrong.status, wrong.body.message], [400, 'name in URL does not match name in Eviction object']);
  assert.equal((await evict(api, { apiVersion: 'policy/v2' })).status, 400);
  assert.equal((await evict(api, { apiVersion: 'policy/v1beta1' })).status, 201);
  assert.equal((await api.call('POST', `${pods}/none/eviction`, { body: { metadata: { name: 'none' } } })).status, 404);
});

test('a budget without disruptions left answers 429 with its cause, and the pod stays as it is', async () => {
  await using api = await withPod();
  await withBudget(api, 'b', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 });
  const before = await podOf(api);
  const refused = await evict(api);
  assert.deepEqual(
    [refused.status, refused.body.reason, refused.body.message, refused.headers['retry-after']],
    [429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", undefined],
  );
  assert.deepEqual(refused.body.details.causes, [
    { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 1 currently' },
  ]);
  assert.deepEqual(await podOf(api), before);
});

test('a budget that its controller has not seen yet is asked again later', async () => {
  await using api = await withPod();
  await withBudget(api, 'b', { observedGeneration: 0, disruptionsAllowed: 1 });
  const refused = await evict(api);
  assert.deepEqual([refused.status, refused.headers['retry-after'], refused.body.details.retryAfterSeconds], [429, '10', 10]);
});

test('an eviction takes a disruption from the budget, a dry run takes none', async () => {
  await using api = await withPod();
  await withBudget(api, 'b', { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
  const statusOf = async () => (await api.call('GET', `${budgets}/b`)).body.status;
  assert.equal((await evict(api, {}, '?dryRun=All')).status, 201);
  assert.equal((await evict(api, { deleteOptions: { dryRun: ['All'] } })).status, 201);
  assert.deepEqual([(await statusOf()).disruptionsAllowed, (await podOf(api)).metadata.deletionTimestamp], [1, undefined]);
  assert.equal((await evict(api)).status, 201);
  const { disruptionsAllowed = 0, disruptedPods } = await statusOf();
  assert.deepEqual([disruptionsAllowed, disruptedPods], [0, { p: '2030-01-01T00:00:00Z' }]);
  assert.notEqual((await podOf(api)).metadata.deletionTimestamp, undefined);
});

test('more budgets than one: nobody decides', async () => {
  await using api = await withPod();
  await withBudget(api, 'a', { disruptionsAllowed: 1 });
  await withBudget(api, 'b', { disruptionsAllowed: 1 });
  const { status, body } = await evict(api);
  assert.deepEqual(
    [status, body.status, body.code, body.message],
    [201, 'Failure', 500, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'],
  );
  assert.equal((await podOf(api)).metadata.deletionTimestamp, undefined);
});

test('a pod that is not running yet, or not ready while the budget is met, needs no disruption', async () => {
  await using pending = await withPod(false);
  await withBudget(pending, 'b', { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 });
  assert.equal((await evict(pending)).status, 201);
  await using unready = await withPod();
  await setStatus(unready, { conditions: [{ type: 'Ready', status: 'False' }] });
  await withBudget(unready, 'b', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 });
  assert.equal((await evict(unready)).status, 201);
  assert.equal((await unready.call('GET', `${budgets}/b`)).body.status.disruptedPods, undefined);
});

test('preconditions of an eviction are those of its delete', async () => {
  await using api = await withPod();
  const other = await evict(api, { deleteOptions: { preconditions: { uid: 'other' } } });
  assert.equal(other.status, 409);
  assert.match(other.body.message, /^Operation cannot be fulfilled on Pod "p": the UID in the precondition \(other\) does not match/);
  const { metadata } = await podOf(api);
  const exact = await evict(api, { deleteOptions: { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } } });
  assert.equal(exact.status, 201);
});

test('given a namespace that is going, then an eviction is refused with the cause that drain knows', async () => {
  await using api = await inProcessServer({}, new FakeClock());
  await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 't' } } });
  await api.call('POST', '/api/v1/namespaces/t/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const url = '/api/v1/namespaces/t/pods';
  await api.call('POST', url, { body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } });
  await api.call('DELETE', '/api/v1/namespaces/t');
  const { status, body } = await api.call('POST', `${url}/p/eviction`, { body: { metadata: { name: 'p' } } });
  assert.deepEqual([status, body.details.causes[0].reason], [403, 'NamespaceTerminating']);
});
