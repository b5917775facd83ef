import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDeployment, aReplicaSet, aReplicationController, aStatefulSet } from '#api/testing/workloads.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const json = { 'content-type': 'application/json-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };

const aScale = (replicas: number, metadata: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'web', namespace: 'default', ...metadata },
  spec: { replicas },
});

async function withDeployment(api: InProcessServer) {
  const { body } = await api.call('POST', deployments, { body: aDeployment({ replicas: 2 }) });
  return body;
}

test('the scale of a deployment says what is wanted, what there is and how it is found', async () => {
  await using api = await inProcessServer();
  const { metadata } = await withDeployment(api);
  await api.call('PATCH', `${deployments}/web/status`, { body: { status: { replicas: 1 } }, headers: merge });
  const { status, body } = await api.call('GET', `${deployments}/web/scale`);
  assert.equal(status, 200);
  const { resourceVersion, ...rest } = body.metadata;
  assert.ok(Number(resourceVersion) > Number(metadata.resourceVersion));
  assert.deepEqual(
    { ...body, metadata: rest },
    {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: 'default', uid: metadata.uid, creationTimestamp: metadata.creationTimestamp },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'app=web' },
    },
  );
  const missing = await api.call('GET', `${deployments}/other/scale`);
  assert.deepEqual([missing.status, missing.body.message], [404, 'deployments.apps "other" not found']);
});

test('a scale without a revision is written over any other, and is a new generation', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const { status, body } = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(5) });
  assert.deepEqual([status, body.kind, body.spec], [200, 'Scale', { replicas: 5 }]);
  const scaled = (await api.call('GET', `${deployments}/web`)).body;
  assert.deepEqual([scaled.spec.replicas, scaled.metadata.generation, scaled.metadata.resourceVersion], [5, 2, body.metadata.resourceVersion]);
  const again = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(5) });
  assert.equal(again.body.metadata.resourceVersion, body.metadata.resourceVersion);
});

test('revision and uid of a scale are those of the object', async () => {
  await using api = await inProcessServer();
  const { metadata } = await withDeployment(api);
  await api.call('PUT', `${deployments}/web/scale`, { body: aScale(3) });
  const stale = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(4, { resourceVersion: metadata.resourceVersion }) });
  assert.deepEqual(
    [stale.status, stale.body.message],
    [
      409,
      'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again',
    ],
  );
  const other = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(4, { uid: 'other' }) });
  assert.deepEqual(
    [other.status, other.body.message],
    [
      409,
      `Operation cannot be fulfilled on deployments/scale.apps "web": Precondition failed: UID in precondition: other, UID in object meta: ${metadata.uid}`,
    ],
  );
});

test('a scale below nothing and one of another object are refused', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const negative = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(-1) });
  assert.deepEqual(
    [negative.status, negative.body.message],
    [422, 'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  );
  const named = await api.call('PUT', `${deployments}/web/scale`, { body: aScale(1, { name: 'db' }) });
  assert.deepEqual([named.status, named.body.message], [400, 'the name of the object (db) does not match the name on the URL (web)']);
  const applied = await api.call('PATCH', `${deployments}/web/scale?fieldManager=a`, { body: aScale(-1), headers: apply });
  assert.equal(applied.status, 422);
});

test('a scale is patched in every form', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const patched = async (body: unknown, headers: Record<string, string>, query = '') => {
    const answer = await api.call('PATCH', `${deployments}/web/scale${query}`, { body, headers });
    return [answer.status, answer.body.spec?.replicas];
  };
  assert.deepEqual(await patched({ spec: { replicas: 3 } }, merge), [200, 3]);
  assert.deepEqual(await patched(aScale(4), strategic), [200, 4]);
  assert.deepEqual(await patched([{ op: 'replace', path: '/spec/replicas', value: 5 }], json), [200, 5]);
  assert.deepEqual(await patched(aScale(6), apply, '?fieldManager=scaler&force=true'), [200, 6]);
  assert.equal((await api.call('GET', `${deployments}/web`)).body.metadata.generation, 5);
});

test('who applies a scale owns the number of pods, and nobody else may apply another', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const forced = await api.call('PATCH', `${deployments}/web/scale?fieldManager=scaler&force=true`, { body: aScale(3), headers: apply });
  assert.equal(forced.status, 200);
  const { managedFields } = (await api.call('GET', `${deployments}/web`)).body.metadata;
  const { time: _, ...owner } = managedFields.find(({ manager }: { manager: string }) => manager === 'scaler');
  assert.deepEqual(owner, {
    manager: 'scaler',
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    subresource: 'scale',
  });
  const other = await api.call('PATCH', `${deployments}/web/scale?fieldManager=other`, { body: aScale(4), headers: apply });
  assert.deepEqual([other.status, other.body.reason], [409, 'Conflict']);
  const odd = await api.call('PATCH', `${deployments}/web/scale?fieldManager=other`, { body: { ...aScale(4), spec: { pods: 1 } }, headers: apply });
  assert.deepEqual(
    [odd.status, odd.body.message],
    [500, 'failed to create typed patch object (default/web; autoscaling/v1, Kind=Scale): .spec.pods: field not declared in schema'],
  );
});

test('a dry run scales nothing', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const { body } = await api.call('PUT', `${deployments}/web/scale?dryRun=All`, { body: aScale(9) });
  assert.equal(body.spec.replicas, 9);
  assert.equal((await api.call('GET', `${deployments}/web/scale`)).body.spec.replicas, 2);
});

test('a scale is shown as a table', async () => {
  await using api = await inProcessServer();
  await withDeployment(api);
  const { body } = await api.call('GET', `${deployments}/web/scale`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  assert.deepEqual(
    [body.columnDefinitions.map(({ name }: { name: string }) => name), body.rows[0].cells],
    [
      ['Name', 'Desired', 'Available', 'Age'],
      ['web', 2, 0, '0s'],
    ],
  );
});

for (const [resource, group, body] of [
  ['replicasets', 'apis/apps/v1', aReplicaSet()],
  ['statefulsets', 'apis/apps/v1', aStatefulSet()],
  ['replicationcontrollers', 'api/v1', aReplicationController()],
] as const) {
  test(`${resource} can be scaled, and discovery says so`, async () => {
    await using api = await inProcessServer();
    await api.call('POST', `/${group}/namespaces/default/${resource}`, { body });
    const { status, body: scale } = await api.call('PUT', `/${group}/namespaces/default/${resource}/web/scale`, { body: aScale(0) });
    assert.deepEqual([status, scale.spec, scale.status], [200, {}, { replicas: 0, selector: 'app=web' }]);
    const { resources } = (await api.call('GET', `/${group}`)).body;
    assert.deepEqual(
      resources.find(({ name }: { name: string }) => name === `${resource}/scale`),
      {
        name: `${resource}/scale`,
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    );
  });
}
