import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { NewObject } from '#api/object.ts';
import type { Node, Pod, PodSpec } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import type { Client } from '#client/client.ts';
import type { SchedulingStep } from '#scheduler/scheduler.ts';
import { eventually, startControlPlane } from '../support/control-plane.ts';

const limits = { timeout: 20_000 };

function aNodeToBe(name: string, cpu = '2'): NewObject<Node> {
  const allocatable = { cpu, memory: '8Gi', pods: '110' };
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
  return { metadata: { name, labels: { 'kubernetes.io/hostname': name } }, status: { capacity: allocatable, allocatable, conditions } };
}

/** As a kubelet does: the object, then its status. */
async function addNode(client: Client, node: NewObject<Node>, signal: AbortSignal): Promise<Node> {
  const created = await client.create(nodeKind, node, signal);
  return await client.patch(nodeKind, created.metadata, 'merge', { status: node.status }, 'status', signal);
}

function aPodToBe(name: string, cpu?: string, spec: Partial<PodSpec> = {}): NewObject<Pod> {
  const resources = cpu === undefined ? {} : { requests: { cpu } };
  return { metadata: { namespace: 'default', name }, spec: { containers: [{ name: 'main', image: 'busybox', resources }], ...spec } };
}

async function ready(t: TestContext, observe?: (step: SchedulingStep) => void) {
  const plane = await startControlPlane(t, observe === undefined ? {} : { observe });
  const account = { group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', scope: 'Namespaced' } as const;
  await eventually(plane.admin, account, { namespace: 'default', name: 'default' }, (found) => found !== undefined, t.signal);
  return plane;
}

const isBound = (pod: Pod | undefined) => (pod?.spec?.nodeName ?? '') !== '';

test('a pod is bound within milliseconds, is said to be scheduled, and its event tells where', limits, async (t) => {
  const steps: SchedulingStep[] = [];
  let onBound: (() => void) | undefined;
  const nextBound = () =>
    new Promise<void>((resolve) => {
      onBound = resolve;
    });
  const { admin } = await ready(t, (step) => {
    steps.push(step);
    if (step.kind === 'bound') onBound?.();
  });
  await addNode(admin, aNodeToBe('node-1'), t.signal);
  await eventually(admin, nodeKind, { name: 'node-1' }, (node) => (node?.spec?.taints ?? []).length === 0, t.signal);
  await admin.create(podKind, aPodToBe('warm-up'), t.signal);
  await eventually(admin, podKind, { namespace: 'default', name: 'warm-up' }, isBound, t.signal);
  const tookMs: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const sinceMs = systemClock.monotonic();
    const bound = nextBound();
    await admin.create(podKind, aPodToBe(`web-${n}`), t.signal);
    await bound;
    tookMs.push(systemClock.monotonic() - sinceMs);
  }
  tookMs.sort((a, b) => a - b);
  t.diagnostic(`create -> bound: median ${tookMs[10]?.toFixed(1)} ms, slowest ${tookMs[19]?.toFixed(1)} ms`);
  const own = steps.filter(({ kind }) => kind === 'assigned').length;
  assert.equal(own, 21);
  const bound = await eventually(admin, podKind, { namespace: 'default', name: 'web-0' }, isBound, t.signal);
  assert.equal(bound?.spec?.nodeName, 'node-1');
  assert.equal(bound?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status, 'True');
  await untilEvents(admin, 'web-0', ['Normal Scheduled Successfully assigned default/web-0 to node-1'], t.signal);
});

async function untilEvents(client: Client, name: string, expected: readonly string[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await client.list(eventKind, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` }, signal);
    const texts = items.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    if (texts.length >= expected.length) {
      assert.deepEqual(texts, expected);
      return;
    }
    await systemClock.sleep(5, signal);
  }
}

test('a pod that fits nowhere says why and is bound when room is made', limits, async (t) => {
  const { admin } = await ready(t);
  await addNode(admin, aNodeToBe('node-1'), t.signal);
  await admin.create(podKind, aPodToBe('tenant', '2'), t.signal);
  await eventually(admin, podKind, { namespace: 'default', name: 'tenant' }, isBound, t.signal);
  await admin.create(podKind, aPodToBe('web', '1'), t.signal);
  const message = '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
  const told = (pod: Pod | undefined) => pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const waiting = await eventually(admin, podKind, { namespace: 'default', name: 'web' }, (pod) => told(pod) !== undefined, t.signal);
  assert.deepEqual([told(waiting)?.status, told(waiting)?.reason, told(waiting)?.message], ['False', 'Unschedulable', message]);
  await untilEvents(admin, 'web', [`Warning FailedScheduling ${message}`], t.signal);
  await admin.delete(podKind, { namespace: 'default', name: 'tenant' }, { gracePeriodSeconds: 0 }, t.signal);
  await eventually(admin, podKind, { namespace: 'default', name: 'web' }, isBound, t.signal);
});

test('a node that is not ready takes nobody until its taint is off', limits, async (t) => {
  const { admin } = await ready(t);
  const node = aNodeToBe('node-1');
  await addNode(admin, { ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'False' }] } }, t.signal);
  await eventually(admin, nodeKind, { name: 'node-1' }, (found) => (found?.spec?.taints ?? []).length > 0, t.signal);
  await admin.create(podKind, aPodToBe('web'), t.signal);
  await eventually(admin, podKind, { namespace: 'default', name: 'web' }, (pod) => /untolerated taint/.test(JSON.stringify(pod?.status)), t.signal);
  await admin.patch(nodeKind, { name: 'node-1' }, 'merge', { status: node.status }, 'status', t.signal);
  const bound = await eventually(admin, podKind, { namespace: 'default', name: 'web' }, isBound, t.signal);
  assert.equal(bound?.spec?.nodeName, 'node-1');
});

test('pods that come at once are spread and never crowd a node beyond its room', limits, async (t) => {
  const { admin } = await ready(t);
  for (const name of ['node-1', 'node-2', 'node-3']) await addNode(admin, aNodeToBe(name, '10'), t.signal);
  await Promise.all(Array.from({ length: 40 }, (_, n) => admin.create(podKind, aPodToBe(`web-${n}`, '1'), t.signal)));
  let pods: readonly Pod[] = [];
  while (pods.filter(isBound).length < 30) {
    await systemClock.sleep(20, t.signal);
    pods = (await admin.list(podKind, { namespace: 'default' }, t.signal)).items;
  }
  await systemClock.sleep(200, t.signal);
  pods = (await admin.list(podKind, { namespace: 'default' }, t.signal)).items;
  const counts = new Map<string, number>();
  for (const pod of pods.filter(isBound)) counts.set(pod.spec?.nodeName ?? '', (counts.get(pod.spec?.nodeName ?? '') ?? 0) + 1);
  assert.deepEqual(Object.fromEntries([...counts].sort()), { 'node-1': 10, 'node-2': 10, 'node-3': 10 });
});
