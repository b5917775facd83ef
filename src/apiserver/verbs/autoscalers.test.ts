import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAutoscaler } from '#api/testing/workloads.ts';
import { inProcessServer } from '../testing/in-process-server.ts';

const older = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const newer = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const merge = { 'content-type': 'application/merge-patch+json' };

test('an autoscaler is the same in both versions, the newer one is preferred', async () => {
  await using api = await inProcessServer();
  const spec = { ...anAutoscaler().spec, targetCPUUtilizationPercentage: 50 };
  const { status, body } = await api.call('POST', older, { body: { ...anAutoscaler(), apiVersion: 'autoscaling/v1', spec } });
  assert.deepEqual([status, body.spec.targetCPUUtilizationPercentage, body.spec.minReplicas], [201, 50, 1]);
  const { body: other } = await api.call('GET', `${newer}/web`);
  assert.deepEqual([other.apiVersion, other.metadata.resourceVersion], ['autoscaling/v2', body.metadata.resourceVersion]);
  assert.deepEqual(other.spec.metrics, [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }]);
  const { body: group } = await api.call('GET', '/apis/autoscaling');
  assert.equal(group.preferredVersion.version, 'v2');
});

test('a status that the older version cannot say outlives a change through it', async () => {
  await using api = await inProcessServer();
  await api.call('POST', newer, { body: anAutoscaler() });
  const conditions = [{ type: 'AbleToScale', status: 'True' }];
  await api.call('PATCH', `${newer}/web/status`, { body: { status: { desiredReplicas: 2, conditions } }, headers: merge });
  const spec = { ...anAutoscaler().spec, maxReplicas: 9 };
  const put = await api.call('PUT', `${older}/web`, { body: { ...anAutoscaler(), apiVersion: 'autoscaling/v1', spec } });
  assert.equal(put.status, 200);
  const { body } = await api.call('GET', `${newer}/web`);
  assert.deepEqual([body.spec.maxReplicas, body.status.conditions, body.status.desiredReplicas], [9, conditions, 2]);
});

test('the rules and the rows of the newer version hold for the older one', async () => {
  await using api = await inProcessServer();
  const body = { ...anAutoscaler({ maxReplicas: 0, targetCPUUtilizationPercentage: 0 }), apiVersion: 'autoscaling/v1' };
  const refused = await api.call('POST', older, { body });
  assert.equal(
    refused.body.message,
    'HorizontalPodAutoscaler.autoscaling "web" is invalid: [spec.maxReplicas: Invalid value: 0: must be greater than 0, ' +
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`, ' +
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0]',
  );
  await api.call('POST', newer, { body: anAutoscaler() });
  const table = await api.call('GET', older, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  assert.deepEqual(table.body.rows[0].cells, ['web', 'Deployment/web', 'cpu: <unknown>/80%', '1', 5, 0, '0s']);
});
