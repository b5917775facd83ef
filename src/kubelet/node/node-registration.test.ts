import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '#api/types/core-v1.ts';
import { nodeTeller, tellStart } from './node-events.ts';
import { nodeStatus } from './node-status.ts';
import { aFacts, aSettings, healthy, running } from './testing/running-agent.ts';

const attach = 'volumes.kubernetes.io/controller-managed-attach-detach';
const providedIp = 'alpha.kubernetes.io/provided-node-ip';
const anExisting = (more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  ...more,
  metadata: { name: 'n1', uid: 'old', ...Object(more).metadata },
});

test('a new node has the taints, the provider id and the annotations that it was configured with', async () => {
  const taint = { key: 'a', value: 'b', effect: 'NoExecute' };
  const wishes = { taints: [taint], providerID: 'cloud://1', hasExternalCloud: true, givenAddresses: ['10.0.0.1', 'fd00::1'] };
  const { node, stop } = await running(healthy, undefined, { wishes });
  assert.deepEqual(node().spec, {
    taints: [taint, { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
    providerID: 'cloud://1',
  });
  assert.deepEqual(node().metadata.annotations, { [attach]: 'true', [providedIp]: '10.0.0.1,fd00::1' });
  await stop();
});

test('an existing node keeps its taints, and its annotations become those of this kubelet', async () => {
  const metadata = { annotations: { [attach]: 'true', [providedIp]: '1.2.3.4', mine: 'x' } };
  const taints = [{ key: 'old', effect: 'NoSchedule' }];
  const { node, stop } = await running(healthy, (api) => api.put('nodes', anExisting({ metadata, spec: { taints } })), {
    wishes: { hasAttachController: false, taints: [{ key: 'new', effect: 'NoSchedule' }] },
  });
  assert.deepEqual([node().metadata.annotations, node().spec?.taints], [{ mine: 'x' }, taints]);
  await stop();
});

test('who may not make a node takes the one that is there', async () => {
  const { node, ready, stop } = await running(healthy, (api) => {
    api.put('nodes', anExisting());
    api.failOnce((request) => request.method === 'POST' && request.path.endsWith('/nodes'), 403, 'Forbidden');
  });
  assert.deepEqual([node().metadata.uid, ready()], ['old', 'True']);
  await stop();
});

test('with registerNode off a node that is there is reported, and none is made', async () => {
  const { api, agent, pass, stop } = await running(healthy, undefined, { registers: false });
  await pass(11_000);
  assert.deepEqual([api.objects('nodes').length, agent.node.get(), agent.expected.get()?.metadata.name], [0, undefined, 'n1']);
  api.put('nodes', anExisting());
  await pass(11_000);
  assert.equal(agent.node.get()?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.deepEqual(
    api.requests.filter((request) => request.startsWith('POST') && request.endsWith('/nodes')),
    [],
  );
  await stop();
});

test('after a change the next unchanged report is shifted by up to half its period, then it is not', async () => {
  const early = await running(healthy, undefined, { random: () => 0 });
  await early.pass(160_000);
  assert.equal(early.reports(), 1);
  await early.pass(280_000);
  assert.equal(early.reports(), 1, 'a report that only repeats is not shifted');
  await early.pass(30_000);
  assert.equal(early.reports(), 2);
  await early.stop();
});

test('an API server that is out of reach has the connections made anew from the second failed try on', async () => {
  const { api, pass, events, stop } = await running();
  api.setUnreachable(true);
  await pass(11_000);
  assert.ok(events.filter((event) => event === 'redial').length >= 4);
  await stop();
});

test('NodeNotSchedulable and NodeSchedulable are told when somebody cordons the node and opens it', async () => {
  const { api, node, pass, events, stop } = await running();
  const cordon = async (unschedulable: boolean) => {
    api.put('nodes', { ...node(), spec: { unschedulable } });
    await pass(11_000);
  };
  await cordon(true);
  await cordon(false);
  assert.deepEqual(
    events.filter((event) => event.includes('Schedulable')),
    ['n1 NodeNotSchedulable', 'n1 NodeSchedulable'],
  );
  await stop();
});

test('Rebooted is told once when the boot id of the node has changed', async () => {
  const { node, events, pass, stop } = await running(healthy, (api) => api.put('nodes', anExisting({ status: { nodeInfo: { bootID: 'before' } } })));
  await pass(30_000);
  assert.equal(node().status?.nodeInfo?.bootID, 'b');
  assert.deepEqual(
    events.filter((event) => event.includes('Rebooted')),
    ['n1 Rebooted'],
  );
  await stop();
});

test('events of a node have the words of upstream', () => {
  const said: string[] = [];
  const events = {
    emit: (about: { uid?: string | undefined }, { type, reason, message }: Record<'type' | 'reason' | 'message', string>) =>
      void said.push(`${about.uid} ${type} ${reason} ${message}`),
  };
  tellStart('n1', 'v2', events);
  const teller = nodeTeller('n1', aSettings, events);
  teller.changed(aFacts(), { status: { nodeInfo: { bootID: 'x' } } as NonNullable<Node['status']> }); // other fields are of no account
  teller.seen({ spec: { unschedulable: true } });
  assert.deepEqual(said, [
    'n1 Normal Starting Starting kubelet.',
    'n1 Warning Rebooted Node n1 has been rebooted, boot id: b',
    'n1 Normal NodeHasSufficientMemory Node n1 status is now: NodeHasSufficientMemory',
    'n1 Normal NodeHasNoDiskPressure Node n1 status is now: NodeHasNoDiskPressure',
    'n1 Normal NodeHasSufficientPID Node n1 status is now: NodeHasSufficientPID',
    'n1 Normal NodeNotSchedulable Node n1 status is now: NodeNotSchedulable',
  ]);
  tellStart('n1', 'v1', events);
  assert.match(said.at(-1) ?? '', /^n1 Warning CgroupV1 cgroup v1 detected\. cgroup v1 support is deprecated/);
});

const now = '2030-01-01T00:00:00Z';

test('a resource that somebody announced is allocatable whole, and goes when it is announced no more', () => {
  const before = { capacity: { 'example.com/dongle': '4', 'hugepages-1Gi': '0' }, allocatable: { 'example.com/old': '1', 'hugepages-1Gi': '0' } };
  const { capacity, allocatable } = nodeStatus(aFacts(), aSettings, before, now);
  assert.deepEqual([capacity?.['example.com/dongle'], allocatable?.['example.com/dongle']], ['4', '4']);
  assert.deepEqual(
    [allocatable?.['example.com/old'], capacity?.['hugepages-1Gi'], allocatable?.['hugepages-1Gi']],
    [undefined, undefined, undefined],
  );
});

test('a resource that is gone is taken out of what the API server has', async () => {
  const status = { capacity: { 'hugepages-1Gi': '0' }, allocatable: { 'example.com/old': '1' } };
  const { node, stop } = await running(healthy, (api) => api.put('nodes', anExisting({ status })));
  assert.deepEqual(Object.keys(node().status?.allocatable ?? {}).sort(), ['cpu', 'ephemeral-storage', 'memory', 'pods']);
  assert.deepEqual(Object.keys(node().status?.capacity ?? {}).sort(), ['cpu', 'ephemeral-storage', 'memory', 'pods']);
  await stop();
});

test('without isolation of local storage there is no ephemeral storage to be given, and none is missed', () => {
  const facts = { ...aFacts(), filesystem: { capacityBytes: 0, availableBytes: 0, inodes: 0, inodesFree: 0 } };
  const of = (countsStorage: boolean) => nodeStatus(facts, { ...aSettings, countsStorage }, {}, now);
  assert.equal(of(true).conditions?.at(-1)?.message, 'missing node capacity for resources: ephemeral-storage');
  assert.deepEqual([of(false).conditions?.at(-1)?.status, of(false).capacity?.['ephemeral-storage']], ['True', undefined]);
});

test('addresses: both families in order; with a cloud those that it says, before that those that were given', () => {
  const facts = { ...aFacts(), addresses: ['10.0.0.1', 'fd00::1'] };
  const of = (more: object, before: object[] = []) =>
    nodeStatus(facts, { ...aSettings, ...more }, { addresses: before as never[] }, now).addresses?.map(({ type, address }) => `${type} ${address}`);
  const own = ['InternalIP 10.0.0.1', 'InternalIP fd00::1', 'Hostname n1'];
  assert.deepEqual(of({}), own);
  assert.deepEqual(of({ hasExternalCloud: true }), ['Hostname n1']);
  assert.deepEqual(of({ hasExternalCloud: true, isAddressGiven: true }), own);
  assert.deepEqual(of({ hasExternalCloud: true, isAddressGiven: true }, [{ type: 'ExternalIP', address: '8.8.8.8' }]), ['ExternalIP 8.8.8.8']);
});

test('a runtime that does not answer keeps its name, not its version', () => {
  const info = (runtimeName: string) => nodeStatus({ ...aFacts(), runtimeVersion: undefined, runtimeName }, aSettings, {}, now).nodeInfo;
  assert.deepEqual([info('containerd')?.containerRuntimeVersion, info('')?.containerRuntimeVersion], ['containerd://Unknown', 'unknown://Unknown']);
});
