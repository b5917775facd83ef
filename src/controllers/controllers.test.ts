import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '#api/kinds/core/v1/config-map.ts';
import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import { aConfigMap, aLease, aNamespace, aNode, aPod, aServiceAccount } from '#api/testing/objects.ts';
import type { ConfigMap, Event, Namespace, Node, Pod, ServiceAccount } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { settled } from '#client/testing/settled.ts';
import { runControllers } from './controllers.ts';

const signal = new AbortController().signal;

function controlling(t: { after(action: () => Promise<void>): void }, api: MemoryApi) {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const stop = new AbortController();
  const clients = { reading: createClient(api), as: () => createClient(api) };
  const ended = runControllers(clients, { clock, logger: silentLogger, rootCaPem: 'THE CA' }, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    assert.equal(clock.waiting, 0, 'timers are left behind');
  });
  const advance = async (ms: number) => {
    await settled();
    await clock.advance(ms);
    await settled();
  };
  const events = () => api.objects<Event>('events').map((event) => `${event.involvedObject.name} ${event.reason}: ${event.message}`);
  const pod = (name: string) => api.objects<Pod>('pods').find(({ metadata }) => metadata.name === name);
  const node = (name: string) => api.objects<Node>('nodes').find(({ metadata }) => metadata.name === name);
  return { clock, advance, client: createClient(api), events, pod, node };
}

test('every namespace gets its service account and the root CA, again after they were lost or changed', async (t) => {
  const api = new MemoryApi();
  const { client } = controlling(t, api);
  api.put('namespaces', aNamespace({ metadata: { name: 'shop' } }));
  api.put('namespaces', aNamespace({ metadata: { name: 'going', deletionTimestamp: '2030-01-01T00:00:00Z' }, spec: { finalizers: ['other'] } }));
  await settled();
  const accounts = () => api.objects<ServiceAccount>('serviceaccounts').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  const maps = () => api.objects<ConfigMap>('configmaps').map(({ metadata, data }) => [metadata.namespace, metadata.name, data]);
  const expected = [['shop', 'kube-root-ca.crt', { 'ca.crt': 'THE CA' }]];
  assert.deepEqual(accounts(), ['shop/default']);
  assert.deepEqual(maps(), expected);
  await client.delete(serviceAccount, { namespace: 'shop', name: 'default' }, {}, signal);
  await client.patch(configMap, { namespace: 'shop', name: 'kube-root-ca.crt' }, 'merge', { data: { 'ca.crt': 'ANOTHER' } }, '', signal);
  await settled();
  assert.deepEqual(accounts(), ['shop/default']);
  assert.deepEqual(maps(), expected);
  await client.delete(configMap, { namespace: 'shop', name: 'kube-root-ca.crt' }, {}, signal);
  await settled();
  assert.deepEqual(maps(), expected);
});

test('a namespace goes after its content: pods first, and what they use only when they are gone', async (t) => {
  const api = new MemoryApi();
  api.put('namespaces', aNamespace({ metadata: { name: 'shop' } }));
  const { client, advance, pod } = controlling(t, api);
  api.put('pods', aPod({ metadata: { namespace: 'shop' }, spec: { nodeName: 'node-1' } }));
  api.put('configmaps', aConfigMap({ metadata: { namespace: 'shop' } }));
  api.put('configmaps', aConfigMap({ metadata: { namespace: 'elsewhere' } }));
  await settled();
  await client.delete(namespaceKind, { name: 'shop' }, {}, signal);
  await advance(4999);
  assert.equal(pod('web')?.metadata.deletionTimestamp, undefined);
  await advance(1);
  assert.notEqual(pod('web')?.metadata.deletionTimestamp, undefined);
  assert.equal(api.objects<ConfigMap>('configmaps').length, 3); // the root CA too
  const [shop] = api.objects<Namespace>('namespaces');
  assert.equal(shop?.status?.phase, 'Terminating');
  assert.match(shop?.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining')?.message ?? '', /pods\. has 1 resource instances/);
  await client.delete(
    { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' },
    { namespace: 'shop', name: 'web' },
    { gracePeriodSeconds: 0 },
    signal,
  );
  await advance(20);
  assert.deepEqual(api.objects('namespaces'), []);
  assert.deepEqual(
    api.objects<ConfigMap>('configmaps').map(({ metadata }) => metadata.namespace),
    ['elsewhere'],
  );
  assert.deepEqual(api.objects<ServiceAccount>('serviceaccounts'), []);
});

test('a finalizer holds its namespace, and the conditions say so', async (t) => {
  const api = new MemoryApi();
  api.put('namespaces', aNamespace({ metadata: { name: 'shop' } }));
  api.put('serviceaccounts', aServiceAccount({ metadata: { namespace: 'shop', name: 'held', finalizers: ['x/y'] } }));
  const { client, advance } = controlling(t, api);
  await client.delete(namespaceKind, { name: 'shop' }, {}, signal);
  await advance(5000);
  const [shop] = api.objects<Namespace>('namespaces');
  const message = shop?.status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.message;
  assert.equal(message, 'Some content in the namespace has finalizers remaining: x/y in 1 resource instances');
  await client.patch(serviceAccount, { namespace: 'shop', name: 'held' }, 'merge', { metadata: { finalizers: [] } }, '', signal);
  await advance(8000);
  assert.deepEqual(api.objects('namespaces'), []);
});

const tolerations = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }];

function aRunningPod(name: string, spec: object = {}) {
  const conditions = [{ type: 'Ready', status: 'True' }];
  return aPod({ metadata: { name, uid: `uid-of-${name}` }, spec: { nodeName: 'node-1', ...spec }, status: { phase: 'Running', conditions } });
}

test('a node whose lease is not renewed becomes unknown, its pods are not ready and are driven away when their time is over', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', aNode());
  api.put('nodes', aNode({ metadata: { name: 'node-2', uid: 'uid-of-node-2' } }));
  api.put('pods', aRunningPod('patient', { tolerations }));
  api.put('pods', aRunningPod('impatient'));
  const { advance, events, pod, node } = controlling(t, api);
  const renew = async (name: string, second: number) =>
    api.put(
      'leases.coordination.k8s.io',
      aLease({ metadata: { name }, spec: { renewTime: `2030-01-01T00:00:${String(second).padStart(2, '0')}.000000Z` } }),
    );
  await renew('node-1', 0);
  const beat = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      await renew('node-2', (passed / 1000) % 60);
      await advance(1000);
    }
  };
  await beat(39_000);
  assert.deepEqual(node('node-1')?.spec?.taints, undefined);
  await beat(2000);
  assert.deepEqual(
    node('node-1')?.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    [
      'Ready Unknown NodeStatusUnknown',
      'MemoryPressure Unknown NodeStatusNeverUpdated',
      'DiskPressure Unknown NodeStatusNeverUpdated',
      'PIDPressure Unknown NodeStatusNeverUpdated',
    ],
  );
  assert.deepEqual(
    node('node-1')?.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`),
    ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'],
  );
  assert.equal(node('node-2')?.spec?.taints, undefined);
  assert.equal(pod('patient')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  assert.notEqual(pod('impatient')?.metadata.deletionTimestamp, undefined);
  assert.equal(pod('impatient')?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'DeletionByTaintManager');
  await beat(297_000);
  assert.equal(pod('patient')?.metadata.deletionTimestamp, undefined);
  await beat(3000);
  assert.notEqual(pod('patient')?.metadata.deletionTimestamp, undefined);
  assert.deepEqual(events().sort(), [
    'impatient NodeNotReady: Node is not ready',
    'impatient TaintManagerEviction: Marking for deletion Pod default/impatient',
    'node-1 NodeNotReady: Node node-1 status is now: NodeNotReady',
    'node-1 RegisteredNode: Node node-1 event: Registered Node node-1 in Controller',
    'node-2 RegisteredNode: Node node-2 event: Registered Node node-2 in Controller',
    'patient NodeNotReady: Node is not ready',
    'patient TaintManagerEviction: Marking for deletion Pod default/patient',
  ]);
});

test('a node that comes back loses its taints, and its pods stay', async (t) => {
  const api = new MemoryApi();
  const gone = aNode({ status: { conditions: [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: 'then' }] } });
  api.put('nodes', gone);
  api.put('nodes', aNode({ metadata: { name: 'node-2', uid: 'uid-of-node-2' } }));
  api.put('pods', aRunningPod('patient', { tolerations }));
  const { advance, events, pod, node } = controlling(t, api);
  await advance(10_000);
  assert.equal(node('node-1')?.spec?.taints?.length, 2);
  api.put('nodes', { ...node('node-1'), status: aNode().status });
  await advance(20_000);
  assert.deepEqual(node('node-1')?.spec?.taints, []);
  assert.equal(pod('patient')?.metadata.deletionTimestamp, undefined);
  assert.ok(events().includes('patient TaintManagerEviction: Cancelling deletion of Pod default/patient'));
});

test('of the nodes of a zone that fall silent together one after the other drives its pods away', async (t) => {
  const api = new MemoryApi();
  const silent = [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: 'then' }];
  for (const name of ['down-1', 'down-2']) api.put('nodes', aNode({ metadata: { name, uid: `uid-of-${name}` }, status: { conditions: silent } }));
  for (const name of ['up-1', 'up-2']) api.put('nodes', aNode({ metadata: { name, uid: `uid-of-${name}` } }));
  const { advance, node } = controlling(t, api);
  const evicting = () => ['down-1', 'down-2'].filter((name) => node(name)?.spec?.taints?.some(({ effect }) => effect === 'NoExecute'));
  await settled();
  assert.deepEqual(evicting(), ['down-1']);
  await advance(9999);
  assert.deepEqual(evicting(), ['down-1']);
  await advance(1);
  assert.deepEqual(evicting(), ['down-1', 'down-2']);
});

test('when no node is left nobody is driven away', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', aNode());
  api.put('pods', aRunningPod('web'));
  const { advance, pod, node } = controlling(t, api);
  await advance(41_000);
  assert.deepEqual(
    node('node-1')?.spec?.taints?.map(({ effect }) => effect),
    ['NoSchedule'],
  );
  assert.equal(pod('web')?.metadata.deletionTimestamp, undefined);
});

test('pods of a node that is gone are failed and removed after the quarantine; those that never had a node at once', async (t) => {
  const api = new MemoryApi();
  api.put('pods', aRunningPod('orphan', { nodeName: 'gone' }));
  api.put('pods', aPod({ metadata: { name: 'unscheduled', uid: 'u', deletionTimestamp: '2030-01-01T00:00:00Z' } }));
  const { advance, pod } = controlling(t, api);
  await advance(39_000);
  assert.equal(pod('unscheduled'), undefined);
  assert.notEqual(pod('orphan'), undefined);
  api.requests.length = 0;
  await advance(1000);
  assert.equal(pod('orphan'), undefined);
  assert.deepEqual(api.requests, [
    'GET /api/v1/nodes/gone',
    'PATCH /api/v1/namespaces/default/pods/orphan/status',
    'DELETE /api/v1/namespaces/default/pods/orphan',
  ]);
});

test('a new node may have pods in the moment in which it says that it is ready', async (t) => {
  const api = new MemoryApi();
  const { client, node } = controlling(t, api);
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const heartbeat = { lastHeartbeatTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' };
  api.put('nodes', aNode({ metadata: { name: 'new' }, spec: { taints: [notReady] }, status: { conditions: [] } }));
  await settled();
  assert.deepEqual(node('new')?.spec?.taints, [notReady]);
  const conditions = [{ type: 'Ready', status: 'True', ...heartbeat }];
  await client.patch(nodeKind, { name: 'new' }, 'strategic', { status: { conditions } }, 'status', signal);
  await settled(); // no time has passed
  assert.deepEqual(node('new')?.spec?.taints, []);
});
