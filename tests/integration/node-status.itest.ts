import assert from 'node:assert/strict';
import { cpus, hostname, totalmem } from 'node:os';
import { test } from 'node:test';
import { lease as leaseKind } from '#api/kinds/coordination/v1/lease.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { parseQuantity } from '#api/quantity.ts';
import type { Node } from '#api/types/core-v1.ts';
import { outputOf } from '../support/kubectl.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const never = new AbortController().signal;

async function theNode(): Promise<Node> {
  const { items } = await cluster.client.list(nodeKind, {}, never);
  const [only] = items;
  assert.ok(only !== undefined && items.length === 1, 'there is one node');
  return only;
}

function hasBusybox({ status }: Node): boolean {
  return status?.images?.some(({ names }) => names?.includes('docker.io/library/busybox:latest')) === true;
}

test('the node says what the host is, and promises pods a little less', async () => {
  const { metadata, status } = await theNode();
  assert.equal(metadata.labels?.['kubernetes.io/hostname'], hostname().toLowerCase());
  assert.equal(metadata.labels?.['kubernetes.io/os'], 'linux');
  assert.equal(status?.capacity?.['cpu'], String(cpus().length));
  assert.equal(status?.capacity?.['pods'], '110');
  assert.equal(status?.capacity?.['memory'], `${totalmem() / 1024}Ki`);
  const kept = bytes(status?.capacity?.['memory']) - bytes(status?.allocatable?.['memory']);
  assert.ok(kept >= 100 * 1024 ** 2, `${kept} bytes of memory are kept back`);
  const storage = bytes(status?.allocatable?.['ephemeral-storage']) / bytes(status?.capacity?.['ephemeral-storage']);
  assert.ok(storage > 0.89 && storage < 0.91, `${storage} of the storage is promised`);
});

test('the node says what runs on it and how it is reached', async () => {
  // Images are told with the next status: a node can be Ready while its first one is being loaded.
  for await (const event of cluster.client.watch(nodeKind, {}, AbortSignal.timeout(30_000))) {
    if (event.type !== 'BOOKMARK' && hasBusybox(event.object)) break;
  }
  const { status } = await theNode();
  assert.match(status?.nodeInfo?.containerRuntimeVersion ?? '', /^containerd:\/\/\d/);
  assert.match(status?.nodeInfo?.kubeletVersion ?? '', /^v1\.\d+\.\d+/);
  assert.equal(status?.nodeInfo?.operatingSystem, 'linux');
  assert.ok((status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0);
  assert.deepEqual(
    status?.addresses?.map(({ type }) => type),
    ['InternalIP', 'Hostname'],
  );
});

test('the node is Ready and its lease is held', async () => {
  const { metadata, status } = await theNode();
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['True', 'KubeletReady', 'kubelet is posting ready status']);
  const lease = await cluster.client.get(leaseKind, { namespace: 'kube-node-lease', name: metadata.name }, never);
  assert.deepEqual([lease.spec?.holderIdentity, lease.metadata.ownerReferences?.[0]?.uid], [metadata.name, metadata.uid]);
});

test('the kubelet is reached through the node’s proxy', async () => {
  const { metadata } = await theNode();
  assert.equal(outputOf(await cluster.kubectl(`get --raw /api/v1/nodes/${metadata.name}/proxy/healthz`)), 'ok');
  assert.match(outputOf(await cluster.kubectl(`get --raw /api/v1/nodes/${metadata.name}/proxy/metrics`)), /pod_start/);
});

test('a node that is deleted is back, Ready', async () => {
  const { metadata } = await theNode();
  await cluster.client.delete(nodeKind, { name: metadata.name }, {}, never);
  for await (const event of cluster.client.watch(nodeKind, { resourceVersion: metadata.resourceVersion, timeoutSeconds: 40 }, never)) {
    if (event.type === 'BOOKMARK' || event.object.metadata.uid === metadata.uid) continue;
    if (event.object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
  }
  assert.fail('no new node became Ready');
});

function bytes(quantity: string | undefined): number {
  assert.ok(quantity !== undefined);
  return Number(parseQuantity(quantity).nanos / 1_000_000_000n);
}
