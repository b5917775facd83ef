import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { settled } from '#client/testing/settled.ts';
import { defaultStatusManagerSettings, StatusManager } from './status-manager.ts';

function rig(t: { after(undo: () => Promise<void>): void }) {
  const api = new MemoryApi();
  const clock = new FakeClock();
  const manager = new StatusManager({ client: createClient(api), clock, logger: silentLogger, settings: defaultStatusManagerSettings });
  t.after(() => manager.close());
  api.put('pods', aPod());
  const [pod] = api.objects<Pod>('pods');
  if (pod === undefined) throw new Error('the pod was just stored');
  const stored = () => api.objects<Pod>('pods')[0];
  const patches = () => api.requests.filter((request) => request.startsWith('PATCH')).length;
  return { api, clock, manager, pod, stored, patches };
}

test('what is urgent goes at once, what is not waits for more', async (t) => {
  const { clock, manager, pod, stored, patches } = rig(t);
  manager.set(pod, { phase: 'Pending', hostIP: '1.1.1.1' }, 'soon');
  manager.set(pod, { phase: 'Pending', hostIP: '1.1.1.2' }, 'soon');
  await settled();
  assert.equal(patches(), 0);
  await clock.advance(250);
  await settled();
  assert.deepEqual([patches(), stored()?.status?.hostIP], [1, '1.1.1.2']);
  manager.set(pod, { phase: 'Running', hostIP: '1.1.1.2' }, 'now');
  await settled();
  assert.deepEqual([patches(), stored()?.status?.phase], [2, 'Running']);
});

test('what changes while a request is under way is told in one request after it', async (t) => {
  const { manager, pod, stored, patches } = rig(t);
  for (const phase of ['Pending', 'Running', 'Succeeded']) manager.set(pod, { phase, hostIP: '1.1.1.1' }, 'now');
  await settled();
  assert.deepEqual([patches(), stored()?.status?.phase], [2, 'Succeeded']);
});

test('a status that somebody else changed is told again', async (t) => {
  const { api, clock, manager, pod, stored } = rig(t);
  manager.set(pod, { phase: 'Running' }, 'now');
  await settled();
  api.put('pods', { ...stored(), status: { phase: 'Pending' } });
  const changed = stored();
  if (changed !== undefined) manager.seen(changed);
  await clock.advance(250);
  await settled();
  assert.equal(stored()?.status?.phase, 'Running');
});

test('a server that is away is asked again until it answers', async (t) => {
  const { api, clock, manager, pod, stored } = rig(t);
  api.setUnreachable(true);
  manager.set(pod, { phase: 'Running' }, 'now');
  await settled();
  await clock.advance(5000);
  api.setUnreachable(false);
  await clock.advance(10_000);
  await settled();
  assert.equal(stored()?.status?.phase, 'Running');
});

test('the object goes when it waits for that, nothing is left of the pod, and its end is told', async (t) => {
  const { api, manager, pod, stored } = rig(t);
  api.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } });
  const deleted = stored();
  if (deleted === undefined) throw new Error('it is there');
  manager.set(deleted, { phase: 'Running' }, 'now');
  manager.finish(deleted);
  await settled();
  assert.notEqual(stored(), undefined);
  manager.set(deleted, { phase: 'Failed' }, 'now');
  await settled();
  assert.equal(stored(), undefined);
});

test('subtle 64: two changes before the API server is asked are one patch, of the newest', async (t) => {
  const { clock, manager, pod, stored, patches } = rig(t);
  manager.set(pod, { phase: 'Pending' }, 'soon');
  manager.set(pod, { phase: 'Running' }, 'soon');
  await clock.advance(250);
  await settled();
  assert.deepEqual([patches(), stored()?.status?.phase], [1, 'Running']);
});

test('subtle 64: of another pod of the same name nothing is written', async (t) => {
  const { api, clock, manager, pod, stored, patches } = rig(t);
  api.put('pods', { ...pod, metadata: { ...pod.metadata, uid: 'another' } });
  api.failOnce(({ method }) => method === 'PATCH', 409, 'Conflict');
  manager.set(pod, { phase: 'Running' }, 'now');
  await settled();
  await clock.advance(60_000);
  await settled();
  assert.deepEqual([patches(), manager.get(pod.metadata.uid), stored()?.status], [1, undefined, pod.status]);
});

test('a conflict of the server with itself loses nothing', async (t) => {
  const { api, clock, manager, pod, stored } = rig(t);
  api.failOnce(({ method }) => method === 'PATCH', 409, 'Conflict');
  manager.set(pod, { phase: 'Running' }, 'now');
  await settled();
  await clock.advance(1000);
  await settled();
  assert.equal(stored()?.status?.phase, 'Running');
});

test('a pod that is gone is told of no more', async (t) => {
  const { api, clock, manager, pod, patches } = rig(t);
  api.failOnce(({ method }) => method === 'PATCH', 404, 'NotFound');
  manager.set(pod, { phase: 'Running' }, 'now');
  await settled();
  await clock.advance(60_000);
  await settled();
  assert.deepEqual([patches(), manager.get(pod.metadata.uid)], [1, undefined]);
});

test('the status of a static pod goes to its mirror, whichever that is, and to none when there is none', async (t) => {
  const { api, clock, manager, pod: mirror, stored, patches } = rig(t);
  const staticPod = aPod({ metadata: { uid: 'static', annotations: { 'kubernetes.io/config.source': 'file' } } });
  manager.set(staticPod, { phase: 'Running' }, 'now');
  await settled();
  assert.equal(patches(), 0);
  manager.seen(mirror, 'static');
  await clock.advance(250);
  await settled();
  assert.deepEqual([patches(), stored()?.status?.phase], [1, 'Running']);
  manager.mirrorGone('static');
  manager.set(staticPod, { phase: 'Running', podIP: '10.0.0.2' }, 'now');
  await settled();
  assert.equal(patches(), 1);
  api.put('pods', { ...mirror, metadata: { ...mirror.metadata, uid: 'second' }, status: {} });
  const second = stored();
  if (second === undefined) throw new Error('it was just stored');
  manager.seen(second, 'static');
  await clock.advance(250);
  await settled();
  assert.deepEqual([stored()?.metadata.uid, stored()?.status?.phase, stored()?.status?.podIP], ['second', 'Running', '10.0.0.2']);
});

test('what happened to many pods while the server was away is told when it is back, the newest of each', async (t) => {
  const { api, clock, manager } = rig(t);
  const pods = Array.from({ length: 50 }, (_, n) => aPod({ metadata: { name: `p${n}`, uid: `u${n}` } }));
  for (const pod of pods) api.put('pods', pod);
  api.setUnreachable(true);
  for (const phase of ['Pending', 'Running', 'Failed']) {
    for (const pod of pods) manager.set(pod, { phase }, 'now');
    await settled();
    await clock.advance(45_000);
  }
  api.setUnreachable(false);
  await clock.advance(10_000);
  await settled();
  const phases = api.objects<Pod>('pods').filter(({ metadata }) => metadata.name !== 'web');
  assert.deepEqual(new Set(phases.map(({ status }) => status?.phase)), new Set(['Failed']));
});
