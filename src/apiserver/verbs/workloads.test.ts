import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aBudget, aCronJob, aDeployment, aJob, aReplicationController } from '#api/testing/workloads.ts';
import { inProcessServer, take } from '../testing/in-process-server.ts';

const inDefault = (group: string, plural: string) => `/apis/${group}/v1/namespaces/default/${plural}`;
const deployments = inDefault('apps', 'deployments');
const jobs = inDefault('batch', 'jobs');
const budgets = inDefault('policy', 'poddisruptionbudgets');
const controllers = '/api/v1/namespaces/default/replicationcontrollers';
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

const preserved =
  '299 - "child pods are preserved by default when jobs are deleted; ' +
  'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"';

test('19: a budget without a revision is not written, a deployment is', async () => {
  await using api = await inProcessServer();
  await api.call('POST', budgets, { body: aBudget() });
  const refused = await api.call('PUT', `${budgets}/web`, { body: aBudget({ minAvailable: 2 }) });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [422, 'poddisruptionbudgets.policy "web" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update'],
  );
  const { causes, ...details } = refused.body.details;
  assert.deepEqual([details, causes.length], [{ name: 'web', group: 'policy', kind: 'poddisruptionbudgets' }, 1]);
  await api.call('POST', deployments, { body: aDeployment() });
  const put = await api.call('PUT', `${deployments}/web`, { body: aDeployment({ replicas: 3 }) });
  assert.deepEqual([put.status, put.body.spec.replicas, put.body.metadata.generation], [200, 3, 2]);
  const missing = await api.call('PUT', `${deployments}/other`, { body: { ...aDeployment(), metadata: { name: 'other' } } });
  assert.deepEqual([missing.status, missing.body.message], [404, 'deployments.apps "other" not found']);
});

test('28: through the status endpoint only the status changes, through the other one all but that', async () => {
  await using api = await inProcessServer();
  const { body: first } = await api.call('POST', deployments, { body: { ...aDeployment(), status: { replicas: 9 } } });
  assert.deepEqual(first.status, {});
  const status = { replicas: 2, observedGeneration: 1, conditions: [{ type: 'Mine', status: 'True' }] };
  const body = { ...first, spec: { ...first.spec, replicas: 7 }, status };
  const { body: second } = await api.call('PUT', `${deployments}/web/status`, { body });
  assert.deepEqual([second.spec.replicas, second.metadata.generation, second.status], [1, 1, status]);
  const { body: third } = await api.call('PUT', `${deployments}/web`, { body: { ...body, metadata: second.metadata, status: {} } });
  assert.deepEqual([third.spec.replicas, third.metadata.generation, third.status], [7, 2, status]);
});

test('29: an annotation of a deployment is a new generation, a label is none', async () => {
  await using api = await inProcessServer();
  await api.call('POST', deployments, { body: aDeployment() });
  const patched = async (metadata: object) =>
    (await api.call('PATCH', `${deployments}/web`, { body: { metadata }, headers: merge })).body.metadata.generation;
  assert.deepEqual([await patched({ labels: { a: 'b' } }), await patched({ annotations: { a: 'b' } })], [1, 2]);
});

test('45: pods of a job that is deleted without a policy stay, and the client is warned', async () => {
  await using api = await inProcessServer();
  await api.call('POST', jobs, { body: aJob() });
  const { status, headers } = await api.call('DELETE', `${jobs}/web`);
  assert.deepEqual([status, headers['warning']], [200, preserved]);
  const { metadata } = (await api.call('GET', `${jobs}/web`)).body;
  assert.deepEqual([metadata.finalizers, typeof metadata.deletionTimestamp], [['orphan'], 'string']);
});

test('who says what becomes of the pods of a job is not warned', async () => {
  await using api = await inProcessServer();
  await api.call('POST', jobs, { body: aJob() });
  const { headers } = await api.call('DELETE', `${jobs}/web?propagationPolicy=Background`);
  assert.equal(headers['warning'], undefined);
  assert.equal((await api.call('GET', `${jobs}/web`)).status, 404);
  await api.call('POST', jobs, { body: aJob() });
  const all = await api.call('DELETE', jobs);
  assert.deepEqual(all.headers['warning'], preserved);
});

test('pods of a replication controller stay too, as ever, without a warning', async () => {
  await using api = await inProcessServer();
  await api.call('POST', controllers, { body: aReplicationController() });
  const { headers } = await api.call('DELETE', `${controllers}/web`);
  assert.equal(headers['warning'], undefined);
  assert.deepEqual((await api.call('GET', `${controllers}/web`)).body.metadata.finalizers, ['orphan']);
});

test('jobs and replication controllers are selected by what they have reached', async () => {
  await using api = await inProcessServer();
  await api.call('POST', jobs, { body: aJob() });
  const names = async (url: string) => (await api.call('GET', url)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  assert.deepEqual(await names(`${jobs}?fieldSelector=status.successful=0`), ['web']);
  assert.deepEqual(await names(`${jobs}?fieldSelector=status.successful=1`), []);
  await api.call('POST', controllers, { body: aReplicationController() });
  assert.deepEqual(await names(`${controllers}?fieldSelector=status.replicas=0`), ['web']);
  for (const [url, message] of [
    [jobs, 'field label "spec.x" not supported for Job'],
    [controllers, 'field label not supported: spec.x'],
    [deployments, '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ] as const) {
    const { status, body } = await api.call('GET', `${url}?fieldSelector=spec.x=1`);
    assert.deepEqual([status, body.message], [400, message]);
  }
});

test('a job with a made-up name selects by that name', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('POST', jobs, { body: { ...aJob(), metadata: { generateName: 'run-' } } });
  const { name, uid } = body.metadata;
  assert.deepEqual(body.spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } });
  assert.equal(body.spec.template.metadata.labels['batch.kubernetes.io/job-name'], name);
  assert.match(name, /^run-.{5}$/);
});

test('a strategy is exchanged with its parameters', async () => {
  await using api = await inProcessServer();
  await api.call('POST', deployments, { body: aDeployment() });
  const body = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
  const { status, body: changed } = await api.call('PATCH', `${deployments}/web`, { body, headers: strategic });
  assert.deepEqual([status, changed.spec.strategy], [200, { type: 'Recreate' }]);
});

test('a watcher sees each change of a CronJob once', async () => {
  await using api = await inProcessServer();
  const cronJobs = inDefault('batch', 'cronjobs');
  const stop = new AbortController();
  const { body: list } = await api.call('GET', cronJobs);
  const events = api.watch(`${cronJobs}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, stop.signal);
  await api.call('POST', cronJobs, { body: aCronJob() });
  const unchanged = await api.call('PATCH', `${cronJobs}/web`, { body: { spec: { suspend: false } }, headers: merge });
  await api.call('PATCH', `${cronJobs}/web`, { body: { spec: { suspend: true } }, headers: merge });
  await api.call('DELETE', `${cronJobs}/web`);
  const seen = await take(events, 3);
  stop.abort();
  assert.equal(unchanged.body.metadata.generation, 1);
  assert.deepEqual(
    seen.map(({ type, object }) => [type, object.metadata.generation, object.spec.suspend]),
    [
      ['ADDED', 1, false],
      ['MODIFIED', 2, true],
      ['DELETED', 2, true],
    ],
  );
});
