import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { PodStatus } from '#api/types/core-v1.ts';
import { aContainer, aSandbox, observedOf } from '../runtime/testing/observed.ts';
import { computePodStatus, type PodStatusInput } from './compute-pod-status.ts';

const nowMs = Date.parse('2030-01-01T00:01:00.700Z');

function inputOf(over: Partial<PodStatusInput> = {}): PodStatusInput {
  return {
    pod: aPod({ metadata: { generation: 4 } }),
    previous: undefined,
    observed: observedOf([]),
    verdicts: () => undefined,
    failureOf: () => undefined,
    runtimeName: 'containerd',
    hostIPs: ['192.168.0.1'],
    nowMs,
    ended: false,
    refusal: undefined,
    ...over,
  };
}
const statusOf = (over: Partial<PodStatusInput> = {}): PodStatus => computePodStatus(inputOf(over)).status;
const conditionsOf = (status: PodStatus) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value, reason }) => [type, reason === undefined ? value : `${value} ${reason}`]));
const running = observedOf([aSandbox()], [aContainer('main', { startedAtMs: nowMs - 1000 })]);

test('a pod that was just seen: Pending, ContainerCreating, with start time and generation', () => {
  const status = statusOf();
  assert.deepEqual(
    [status.phase, status.startTime, status.observedGeneration, status.qosClass],
    ['Pending', '2030-01-01T00:01:00Z', 4, 'BestEffort'],
  );
  assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } });
  assert.deepEqual(conditionsOf(status), {
    PodReadyToStartContainers: 'False NoSandbox',
    Initialized: 'True',
    Ready: 'False ContainersNotReady',
    ContainersReady: 'False ContainersNotReady',
    PodScheduled: 'True',
  });
});

test('a pod that runs: started, ready, with all addresses', () => {
  const status = statusOf({ observed: observedOf([aSandbox({ ips: ['10.0.0.2', 'fd00::2'] })], running.containers) });
  assert.deepEqual(status.containerStatuses, [
    {
      name: 'main',
      state: { running: { startedAt: '2030-01-01T00:00:59Z' } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: 'docker.io/library/busybox:latest',
      imageID: 'sha256:1',
      containerID: 'containerd://main-0',
      started: true,
    },
  ]);
  const { phase, podIP, podIPs, hostIP, hostIPs } = status;
  assert.deepEqual(
    [phase, podIP, podIPs, hostIP, hostIPs],
    ['Running', '10.0.0.2', [{ ip: '10.0.0.2' }, { ip: 'fd00::2' }], '192.168.0.1', [{ ip: '192.168.0.1' }]],
  );
});

test('a pod in the network of the node has the address of the node', () => {
  assert.equal(statusOf({ pod: aPod({ spec: { hostNetwork: true } }) }).podIP, '192.168.0.1');
});

test('the time of a condition changes with its status alone', () => {
  const first = statusOf();
  const later = statusOf({ previous: first, observed: running, nowMs: nowMs + 60_000 });
  const timeOf = (status: PodStatus, type: string) => status.conditions?.find((condition) => condition.type === type)?.lastTransitionTime;
  assert.deepEqual([timeOf(later, 'PodScheduled'), timeOf(later, 'Ready')], ['2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z']);
  assert.equal(later.startTime, first.startTime);
});

test('probes decide on started and ready', () => {
  const exec = { exec: { command: ['true'] } };
  const pod = aPod({ spec: { containers: [aSpec({ startupProbe: exec, readinessProbe: exec })] } });
  const of = (startup: 'success' | 'unknown', readiness: 'success' | 'failure') => {
    const [status] =
      statusOf({ pod, observed: running, verdicts: (_id, kind) => (kind === 'startup' ? startup : readiness) }).containerStatuses ?? [];
    return [status?.started, status?.ready];
  };
  assert.deepEqual(
    [of('unknown', 'success'), of('success', 'failure'), of('success', 'success')],
    [
      [false, false],
      [true, false],
      [true, true],
    ],
  );
});

test('between two runs the reason for the wait is shown, and how the last one ended', () => {
  const dead = aContainer('main', { phase: 'exited', exitCode: 3, message: 'last words', finishedAtMs: nowMs, restartCount: 2 });
  const failureOf = () => ({ reason: 'CrashLoopBackOff', message: 'back-off 10s' }) as const;
  const [status] = statusOf({ observed: observedOf([aSandbox()], [dead]), failureOf }).containerStatuses ?? [];
  assert.deepEqual([status?.state, status?.restartCount], [{ waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } }, 2]);
  const { exitCode, reason, message, containerID } = status?.lastState?.terminated ?? {};
  assert.deepEqual([exitCode, reason, message, containerID], [3, 'Error', 'last words', 'containerd://main-2']);
});

test('the newest container is the state, the one before it the last state', () => {
  const containers = [aContainer('main', { restartCount: 1 }), aContainer('main', { phase: 'exited', exitCode: 1 })];
  const [status] = statusOf({ observed: observedOf([aSandbox()], containers) }).containerStatuses ?? [];
  assert.deepEqual([status?.state?.running !== undefined, status?.lastState?.terminated?.exitCode, status?.restartCount], [true, 1, 1]);
});

test('a container that vanished from the runtime was killed, as far as anyone can tell', () => {
  const [status] = statusOf({ previous: statusOf({ observed: running }) }).containerStatuses ?? [];
  const { exitCode, reason } = status?.lastState?.terminated ?? {};
  assert.deepEqual([exitCode, reason, status?.restartCount], [137, 'ContainerStatusUnknown', 1]);
});

test('init containers: PodInitializing until they are done, and named in the condition', () => {
  const pod = aPod({ spec: { initContainers: [aSpec({ name: 'one' }), aSpec({ name: 'two' })] } });
  const status = statusOf({ pod, observed: observedOf([aSandbox()], [aContainer('one', { phase: 'exited' })]) });
  assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason: 'PodInitializing' } });
  assert.equal(status.conditions?.find(({ type }) => type === 'Initialized')?.message, 'containers with incomplete status: [two]');
  assert.deepEqual(
    status.initContainerStatuses?.map(({ ready }) => ready),
    [true, false],
  );
});

test('readiness gates of others count for Ready only', () => {
  const pod = aPod({ spec: { readinessGates: [{ conditionType: 'load-balancer' }] } });
  const gate = (value: string) => ({ conditions: [{ type: 'load-balancer', status: value }] });
  const ready = (previous?: PodStatus) => conditionsOf(statusOf({ pod, observed: running, previous }));
  assert.deepEqual([ready()['Ready'], ready()['ContainersReady'], ready(gate('True'))['Ready']], ['False ReadinessGatesNotReady', 'True', 'True']);
});

test('a refused pod has reason and message, and no containers', () => {
  const { phase, reason, message, containerStatuses } = statusOf({ refusal: { reason: 'OutOfcpu', message: 'Pod was rejected: no room' } });
  assert.deepEqual([phase, reason, message, containerStatuses], ['Failed', 'OutOfcpu', 'Pod was rejected: no room', undefined]);
});

test('an end is acted on at once, and told when nothing runs any more', () => {
  const pod = aPod({ spec: { activeDeadlineSeconds: 30 } });
  const previous = { ...statusOf({ pod, observed: running }), startTime: '2030-01-01T00:00:00Z' };
  const late = computePodStatus(inputOf({ pod, previous, observed: running }));
  assert.deepEqual([late.meant, late.status.phase, late.status.reason], ['Failed', 'Running', undefined]);
  const dead = observedOf([aSandbox({ ready: false })], [aContainer('main', { phase: 'exited', exitCode: 137 })]);
  const after = computePodStatus(inputOf({ pod, previous: late.status, observed: dead, ended: true }));
  assert.deepEqual([after.status.phase, after.status.reason], ['Failed', 'DeadlineExceeded']);
});

test('a finished pod never comes back, and keeps its address', () => {
  const done = statusOf({
    pod: aPod({ spec: { restartPolicy: 'Never' } }),
    observed: observedOf([aSandbox()], [aContainer('main', { phase: 'exited' })]),
  });
  assert.equal(done.phase, 'Succeeded');
  const later = statusOf({ previous: done, observed: running });
  assert.deepEqual([later.phase, later.podIP], ['Succeeded', '10.0.0.2']);
});

test('at the end every container that ran has ended; what never had a turn stays as it is', () => {
  const pod = aPod({ spec: { initContainers: [aSpec({ name: 'one' }), aSpec({ name: 'two' })] } });
  const status = statusOf({
    pod,
    ended: true,
    observed: observedOf([aSandbox({ ready: false })], [aContainer('one', { phase: 'exited', exitCode: 137 })]),
  });
  assert.equal(status.phase, 'Failed');
  assert.deepEqual(
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(({ state }) => state?.terminated?.exitCode),
    [137, undefined, undefined],
  );
});
