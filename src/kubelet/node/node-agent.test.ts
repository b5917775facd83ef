import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '#api/types/coordination-v1.ts';
import { createClient } from '#client/api-client.ts';
import { healthy, running } from './testing/running-agent.ts';

test('a healthy node is registered Ready, with its labels, address and port', async () => {
  const { node, ready, agent, reports, stop } = await running();
  assert.equal(ready(), 'True');
  assert.equal(node().metadata.labels?.['kubernetes.io/hostname'], 'n1');
  assert.equal(node().metadata.labels?.['zone'], 'a');
  assert.deepEqual(node().status?.addresses, [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'Hostname', address: 'n1' },
  ]);
  assert.equal(node().status?.daemonEndpoints?.kubeletEndpoint?.Port, 4321);
  assert.equal(node().status?.nodeInfo?.containerRuntimeVersion, 'containerd://1.6.20');
  assert.equal(agent.node.get()?.metadata.uid, node().metadata.uid);
  assert.equal(reports(), 0, 'the first write says it all');
  await stop();
});

test('its lease is kept, with the node as owner', async () => {
  const { api, node, pass, stop } = await running();
  const lease = () => api.objects<Lease>('leases.coordination.k8s.io')[0];
  assert.deepEqual(lease()?.metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node().metadata.uid }]);
  assert.deepEqual([lease()?.metadata.namespace, lease()?.spec?.leaseDurationSeconds], ['kube-node-lease', 40]);
  const renewed = lease()?.spec?.renewTime;
  await pass(11_000);
  assert.notEqual(lease()?.spec?.renewTime, renewed);
  await stop();
});

test('a status that does not change is written every five minutes only', async () => {
  const { pass, reports, stop } = await running();
  await pass(290_000);
  assert.equal(reports(), 0);
  await pass(20_000);
  assert.equal(reports(), 1);
  await stop();
});

test('a change of the runtime is reported at once, and told', async () => {
  const { runtime, ready, pass, events, stop } = await running({ ...healthy, networkProblem: 'no network' });
  assert.equal(ready(), 'False');
  runtime.set(healthy);
  await pass(1);
  assert.equal(ready(), 'True');
  assert.equal(events.at(-1), 'n1 NodeReady');
  await stop();
});

test('a node that a controller declared unknown says at its next look that it is there', async () => {
  const { api, node, ready, pass, stop } = await running();
  const conditions = node().status?.conditions?.map((condition) => ({ ...condition, status: 'Unknown' }));
  api.put('nodes', { ...node(), status: { ...node().status, conditions } });
  await pass(11_000);
  assert.equal(ready(), 'True');
  await stop();
});

test('a node that is there already is adopted: its own labels stay, ours are restored', async () => {
  const metadata = { name: 'n1', uid: 'old', labels: { mine: 'x', 'kubernetes.io/arch': 'wrong' } };
  const { node, ready, stop } = await running(healthy, (api) => api.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata }));
  assert.deepEqual([node().metadata.uid, node().metadata.labels?.['mine'], node().metadata.labels?.['kubernetes.io/arch']], ['old', 'x', 'amd64']);
  assert.equal(ready(), 'True');
  await stop();
});

test('a node that somebody deleted is registered again', async () => {
  const { api, node, pass, stop } = await running();
  const before = node().metadata.uid;
  await createClient(api).delete(
    { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' },
    { name: 'n1' },
    {},
    new AbortController().signal,
  );
  await pass(11_000);
  assert.notEqual(node().metadata.uid, before);
  await stop();
});

test('the end leaves no timer', async () => {
  const { clock, stop } = await running();
  await stop();
  assert.equal(clock.waiting, 0);
});
