import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aNode, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Event, Node, Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { settled } from '#client/testing/settled.ts';
import { runScheduler } from './scheduler.ts';

function scheduling(t: { after(action: () => Promise<void>): void }, api: MemoryApi) {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const stop = new AbortController();
  const ended = runScheduler(createClient(api), { clock, logger: silentLogger }, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    assert.equal(clock.waiting, 0, 'timers are left behind');
  });
  const pods = () => Object.fromEntries(api.objects<Pod>('pods').map((pod) => [pod.metadata.name, pod.spec?.nodeName]));
  const events = () =>
    api.objects<Event>('events').map(({ type, reason, message, count, source }) => [type, reason, message, count, source?.component]);
  const condition = (name: string) =>
    api
      .objects<Pod>('pods')
      .find((pod) => pod.metadata.name === name)
      ?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return { clock, pods, events, condition };
}

function pod(name: string, spec: DeepPartial<Pod['spec']> = {}): Pod {
  return aPod({ metadata: { name, uid: `uid-of-${name}` }, spec });
}

function asking(name: string, cpu: string, spec: DeepPartial<Pod['spec']> = {}): Pod {
  return pod(name, { ...spec, containers: [aContainer({ resources: { requests: { cpu } } })] });
}

function node(name: string, cpu = '2'): Node {
  return aNode({ metadata: { name }, status: { allocatable: { cpu, memory: '8Gi', pods: '110' } } });
}

const insufficient =
  '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';

test('a pod is bound to a node and its event says so', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', node('node-1'));
  const { pods, events } = scheduling(t, api);
  await settled();
  api.put('pods', pod('web'));
  await settled();
  assert.deepEqual(pods(), { web: 'node-1' });
  assert.deepEqual(events(), [['Normal', 'Scheduled', 'Successfully assigned default/web to node-1', 1, 'default-scheduler']]);
});

test('pods that came at the same time do not get the same room twice', async (t) => {
  const api = new MemoryApi();
  for (const name of ['node-1', 'node-2']) api.put('nodes', node(name));
  const { pods } = scheduling(t, api);
  for (const name of ['a', 'b', 'c']) api.put('pods', asking(name, '1500m'));
  await settled();
  assert.deepEqual(Object.values(pods()).sort(), ['node-1', 'node-2', undefined]);
});

test('a pod that fits nowhere says why, once, and is bound as soon as room is made', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', node('node-1'));
  api.put('pods', asking('tenant', '2', { nodeName: 'node-1' }));
  const { clock, pods, events, condition } = scheduling(t, api);
  await settled();
  api.put('pods', asking('web', '1'));
  await settled();
  assert.deepEqual(condition('web'), {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: insufficient,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  });
  assert.deepEqual(events(), [['Warning', 'FailedScheduling', insufficient, 1, 'default-scheduler']]);
  await clock.advance(1000);
  await createClient(api).delete(
    { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' },
    { namespace: 'default', name: 'tenant' },
    { gracePeriodSeconds: 0 },
    new AbortController().signal,
  );
  await settled();
  assert.deepEqual(pods(), { web: 'node-1' });
});

test('what may help wakes a waiting pod: a node that comes, a taint that goes, a tenant that is done; a heartbeat does not', async (t) => {
  const api = new MemoryApi();
  const tainted = aNode({ spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } });
  const { clock, pods, events } = scheduling(t, api);
  await settled();
  api.put('pods', pod('web'));
  await settled();
  assert.equal(events()[0]?.[2], 'no nodes available to schedule pods');
  api.put('nodes', tainted);
  await settled();
  assert.match(String(events()[1]?.[2]), /^0\/1 nodes are available: 1 node\(s\) had untolerated taint\(s\)\. /);
  await clock.advance(60_000);
  api.put('nodes', { ...tainted, status: { ...tainted.status, images: [] } });
  await settled();
  assert.equal(events().length, 2);
  assert.equal(events()[1]?.[3], 1, 'a heartbeat was taken for news');
  api.put('nodes', aNode());
  await settled();
  assert.deepEqual(pods(), { web: 'node-1' });
});

test('pods of other schedulers, gated, finished and deleting ones are left alone; a gate that opens is enough', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', node('node-1'));
  const gated = pod('gated', { schedulingGates: [{ name: 'quota' }] });
  api.put('pods', pod('foreign', { schedulerName: 'other' }));
  api.put('pods', gated);
  api.put('pods', { ...pod('done'), status: { phase: 'Succeeded' } });
  api.put('pods', aPod({ metadata: { name: 'deleting', uid: 'uid-of-deleting', deletionTimestamp: '2030-01-01T00:00:00Z' } }));
  const { pods, events } = scheduling(t, api);
  await settled();
  assert.deepEqual(pods(), { foreign: undefined, gated: undefined, done: undefined, deleting: undefined });
  assert.deepEqual(events(), []);
  api.put('pods', { ...gated, spec: { ...gated.spec, schedulingGates: [] } });
  await settled();
  assert.equal(pods()['gated'], 'node-1');
});

test('a binding that fails is told and tried again; meanwhile its room is free', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', node('node-1'));
  const { clock, pods, condition, events } = scheduling(t, api);
  await settled();
  api.failOnce((request) => request.path.endsWith('/binding'), 500, 'InternalError');
  api.put('pods', asking('first', '2'));
  await settled();
  assert.equal(condition('first')?.reason, 'SchedulerError');
  assert.deepEqual(events()[0]?.slice(0, 3), ['Warning', 'FailedScheduling', 'running Bind plugin "DefaultBinder": as the test asked']);
  api.put('pods', asking('second', '2'));
  await settled();
  assert.deepEqual(pods(), { first: undefined, second: 'node-1' });
  await clock.advance(1000);
  await settled();
  assert.equal(condition('first')?.message, insufficient);
});

test('a pod that vanished while it was bound is not tried again', async (t) => {
  const api = new MemoryApi();
  api.put('nodes', node('node-1'));
  const { clock, events } = scheduling(t, api);
  await settled();
  api.failOnce((request) => request.path.endsWith('/binding'), 404, 'NotFound');
  api.put('pods', pod('web'));
  await settled();
  const asked = api.requests.length;
  await clock.advance(20_000);
  await settled();
  assert.equal(api.requests.length, asked);
  assert.deepEqual(events(), []);
});
