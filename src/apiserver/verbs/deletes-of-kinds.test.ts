import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const template = (restartPolicy: string) => ({
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy, containers: [{ name: 'c', image: 'i' }] },
});

test('45: given Job DELETE without propagationPolicy via batch/v1, then its pods are orphaned and a Warning is returned', async () => {
  await using api = await inProcessServer();
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  for (const name of ['a', 'b']) await api.call('POST', jobs, { body: { metadata: { name }, spec: { template: template('Never') } } });
  const plain = await api.call('DELETE', `${jobs}/a`);
  const warning =
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
    'propagationPolicy=Orphan to suppress this warning';
  assert.deepEqual([plain.status, plain.body.metadata.finalizers.includes('orphan'), plain.headers['warning']], [200, true, `299 - "${warning}"`]);
  const asked = await api.call('DELETE', `${jobs}/b?propagationPolicy=Background`);
  assert.deepEqual([asked.status, asked.headers['warning']], [200, undefined]);
});

test('given a delete of a replication controller without a policy, then its pods are orphaned', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/replicationcontrollers';
  await api.call('POST', url, { body: { metadata: { name: 'a' }, spec: { selector: { app: 'a' }, template: template('Always') } } });
  assert.deepEqual((await api.call('DELETE', `${url}/a`)).body.metadata.finalizers, ['orphan']);
});

test('16: given DELETE of a Deployment, then body is Status with details.kind `deployments` and uid; of a Pod, the Pod', async () => {
  await using api = await inProcessServer();
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const url = '/apis/apps/v1/namespaces/default/deployments';
  const body = { metadata: { name: 'a' }, spec: { selector: { matchLabels: { app: 'a' } }, template: template('Always') } };
  const { body: created } = await api.call('POST', url, { body });
  const deleted = await api.call('DELETE', `${url}/a`);
  assert.deepEqual(
    [deleted.status, deleted.body],
    [
      200,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', group: 'apps', kind: 'deployments', uid: created.metadata.uid },
      },
    ],
  );
  await api.call('POST', pods, { body: { ...template('Always'), metadata: { name: 'p' } } });
  assert.equal((await api.call('DELETE', `${pods}/p`)).body.kind, 'Pod');
});

test('given an Event, then no policy makes its delete wait', async () => {
  await using api = await inProcessServer();
  const url = '/api/v1/namespaces/default/events';
  const event = { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } };
  await api.call('POST', url, { body: event });
  const deleted = await api.call('DELETE', '/apis/events.k8s.io/v1/namespaces/default/events/e?propagationPolicy=Foreground');
  assert.deepEqual([deleted.status, (await api.call('GET', `${url}/e`)).status], [200, 404]);
});
