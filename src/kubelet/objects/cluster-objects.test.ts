import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { settled } from '#client/testing/settled.ts';
import { followClusterObjects } from './cluster-objects.ts';

const { signal } = new AbortController();

function open(t: { after(undo: () => Promise<void>): void }) {
  const api = new MemoryApi();
  const clock = new FakeClock();
  const follow = () => {
    const objects = followClusterObjects({ client: createClient(api), clock, logger: silentLogger });
    t.after(async () => objects[Symbol.asyncDispose]());
    return objects;
  };
  return { api, clock, follow };
}

const metadata = { name: 'db', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const db = { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: '10.96.0.7', ports: [{ port: 80 }] } };
const ofCluster = { name: 'kata', uid: 'v', creationTimestamp: metadata.creationTimestamp };
const kata = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: ofCluster, handler: 'kata-qemu' };

test('once they are read, Services cost no request', async (t) => {
  const { api, follow } = open(t);
  api.put('services', db);
  const objects = follow();
  const [first] = await objects.services(aPod(), signal);
  await settled();
  const before = api.requests.length;
  assert.equal(first?.spec?.clusterIP, '10.96.0.7');
  assert.equal((await objects.services(aPod(), signal)).length, 1);
  assert.equal(api.requests.length, before);
});

test('without the API server a pod of the API waits for Services, and one of the node’s own does not', async (t) => {
  const { api, clock, follow } = open(t);
  api.setUnreachable(true);
  const objects = follow();
  assert.deepEqual(await objects.services(aPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } }), signal), []);
  const refused = assert.rejects(objects.services(aPod(), signal), {
    message: 'services have not yet been read at least once, cannot construct envvars',
  });
  await clock.advance(1000);
  await refused;
});

test('the handler of a pod’s class is known without a request, a class that was made a moment ago by one', async (t) => {
  const { api, follow } = open(t);
  const objects = follow();
  await settled();
  assert.equal(await objects.runtimeHandler(aPod(), signal), '');
  const pod = aPod({ spec: { runtimeClassName: 'kata' } });
  await assert.rejects(objects.runtimeHandler(pod, signal), { message: 'RuntimeClass.node.k8s.io "kata" not found' });
  api.put('runtimeclasses.node.k8s.io', kata);
  await settled();
  const before = api.requests.length;
  assert.equal(await objects.runtimeHandler(pod, signal), 'kata-qemu');
  assert.equal(api.requests.length, before);
});
