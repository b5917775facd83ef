import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { Container, PodCondition, PodStatus } from '#api/types/core-v1.ts';
import { aContainer, aSandbox, observedOf } from '../runtime/testing/observed.ts';
import { computePodStatus, type PodStatusInput } from './compute-pod-status.ts';

// Named after the numbered list "Subtle behaviours" of the specification.

const nowMs = Date.parse('2030-01-01T00:01:00Z');

function compute(over: Partial<PodStatusInput> = {}) {
  return computePodStatus({
    pod: aPod(),
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
  });
}
const statusOf = (over: Partial<PodStatusInput> = {}): PodStatus => compute(over).status;
const condition = (status: PodStatus, type: string): PodCondition | undefined => status.conditions?.find((one) => one.type === type);
const running = observedOf([aSandbox()], [aContainer('main', { startedAtMs: nowMs - 1000 })]);
const exited = (name: string, exitCode: number, restartCount = 0) =>
  aContainer(name, { phase: 'exited', exitCode, restartCount, finishedAtMs: nowMs });

test('subtle 28: in CrashLoopBackOff the phase stays Running, Ready is False, the state waiting, the last state terminated', () => {
  const message = 'back-off 10s restarting failed container=main pod=web_default(uid-of-web)';
  const failureOf = () => ({ reason: 'CrashLoopBackOff', message }) as const;
  const status = statusOf({ observed: observedOf([aSandbox()], [exited('main', 1)]), failureOf });
  const [container] = status.containerStatuses ?? [];
  assert.equal(status.phase, 'Running');
  assert.deepEqual(container?.state, { waiting: { reason: 'CrashLoopBackOff', message } });
  assert.equal(container?.lastState?.terminated?.exitCode, 1);
  assert.equal(condition(status, 'Ready')?.message, 'containers with unready status: [main]');
});

test('subtle 31: a readiness failure moves the time of Ready once, and restarts nothing', () => {
  const pod = aPod({ spec: { containers: [aSpec({ readinessProbe: { exec: { command: ['true'] } } })] } });
  const at = (seconds: number, readiness: 'success' | 'failure', previous?: PodStatus) =>
    statusOf({ pod, previous, observed: running, nowMs: nowMs + seconds * 1000, verdicts: () => readiness });
  const first = at(10, 'failure', at(0, 'success'));
  const later = at(30, 'failure', first);
  assert.deepEqual([condition(first, 'Ready')?.status, condition(later, 'Ready')?.lastTransitionTime], ['False', '2030-01-01T00:01:10Z']);
  assert.deepEqual([later.phase, later.containerStatuses?.[0]?.restartCount], ['Running', 0]);
});

test('subtle 42: a container that ran and vanished from the runtime ended with 137 ContainerStatusUnknown', () => {
  const previous = statusOf({ observed: running });
  const goesOn = statusOf({ previous, observed: observedOf([aSandbox()]) });
  assert.deepEqual(goesOn.containerStatuses?.[0]?.lastState?.terminated, {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  });
  assert.deepEqual([goesOn.phase, goesOn.containerStatuses?.[0]?.restartCount], ['Running', 1]);
  const deleted = aPod({ metadata: { deletionTimestamp: '2030-01-01T00:01:00Z' } });
  const end = statusOf({ pod: deleted, previous, observed: observedOf([]), ended: true });
  assert.deepEqual([end.phase, end.containerStatuses?.[0]?.state?.terminated?.exitCode], ['Failed', 137]);
  assert.equal(end.containerStatuses?.[0]?.restartCount, 0);
});

test('subtle 43: what is terminal in the API stays so, whatever runs', () => {
  const { status, meant } = compute({ previous: { phase: 'Failed', reason: 'Evicted', message: 'too much' }, observed: running });
  assert.deepEqual([meant, status.phase, status.reason, status.message], ['Failed', 'Failed', 'Evicted', 'too much']);
  assert.deepEqual([condition(status, 'Ready')?.status, condition(status, 'Ready')?.reason], ['False', 'PodFailed']);
});

test('subtle 44: the end of a pod that was put out is told when its containers are dead', () => {
  const refusal = { reason: 'Evicted', message: 'The node was low on resource: memory.', putOut: { isDisruption: true, keepsSuccess: false } };
  const alive = compute({ previous: { phase: 'Running' }, observed: running, refusal });
  assert.deepEqual(
    [alive.meant, alive.status.phase, alive.status.reason, condition(alive.status, 'DisruptionTarget')],
    ['Failed', 'Running', undefined, undefined],
  );
  const dead = statusOf({ previous: alive.status, observed: observedOf([aSandbox()], [exited('main', 137)]), refusal, ended: true });
  assert.deepEqual([dead.phase, dead.reason, dead.message], ['Failed', 'Evicted', refusal.message]);
  assert.deepEqual(
    [condition(dead, 'DisruptionTarget')?.reason, condition(dead, 'DisruptionTarget')?.message],
    ['TerminationByKubelet', refusal.message],
  );
});

test('subtle 62: activeDeadlineSeconds count from the start time of the status', () => {
  const pod = aPod({ spec: { activeDeadlineSeconds: 60 } });
  const previous = { ...statusOf({ pod, observed: running }), startTime: '2030-01-01T00:00:00Z' };
  assert.equal(compute({ pod, previous, observed: running, nowMs: nowMs - 1 }).meant, 'Running');
  assert.equal(compute({ pod, previous, observed: running }).meant, 'Failed');
});

test('subtle 66: lists in conditions print as [a b], in the order of the spec', () => {
  const containers = ['zebra', 'ant', 'bee'].map((name) => aSpec({ name }));
  const observed = observedOf([aSandbox()], [aContainer('ant', { startedAtMs: nowMs })]);
  const status = statusOf({ pod: aPod({ spec: { containers } }), observed });
  assert.equal(condition(status, 'ContainersReady')?.message, 'containers with unready status: [zebra bee]');
  assert.deepEqual(
    status.containerStatuses?.map(({ name }) => name),
    ['ant', 'bee', 'zebra'],
  );
});

test('a pod that cannot start containers says why', () => {
  const why = (over: Partial<PodStatusInput>) => {
    const { status, reason, message } = condition(statusOf(over), 'PodReadyToStartContainers') ?? {};
    return [status, reason, message];
  };
  assert.deepEqual(why({}), ['False', 'NoSandbox', 'the sandbox of the pod is not made yet']);
  assert.deepEqual(why({ observed: observedOf([aSandbox({ ready: false })]) }), [
    'False',
    'SandboxNotReady',
    'the sandbox of the pod runs no more and is made anew',
  ]);
  assert.deepEqual(why({ trouble: { reason: 'FailedMount', message: 'unmounted volumes=[a]' } }), ['False', 'FailedMount', 'unmounted volumes=[a]']);
  assert.deepEqual(why({ observed: running, trouble: { reason: 'ErrImagePull', message: 'no' } }), ['True', undefined, undefined]);
  assert.deepEqual(why({ previous: { phase: 'Succeeded' } }), ['False', 'PodCompleted', undefined]);
});

test('one address of each family is told, that of the node first', () => {
  const ips = ['fd00::2', '10.0.0.2', '10.0.0.3'];
  const podIPs = (hostIPs: readonly string[], over: Partial<PodStatusInput> = {}) =>
    statusOf({ observed: observedOf([aSandbox({ ips })]), hostIPs, ...over }).podIPs?.map(({ ip }) => ip);
  assert.deepEqual(podIPs(['192.168.0.1', 'fd01::1']), ['10.0.0.2', 'fd00::2']);
  assert.deepEqual(podIPs(['fd01::1', '192.168.0.1']), ['fd00::2', '10.0.0.2']);
  const onHost = aPod({ spec: { hostNetwork: true } });
  const before = { podIPs: [{ ip: '192.168.0.9' }] };
  assert.deepEqual(podIPs(['192.168.0.1', 'fd01::1'], { pod: onHost, previous: before }), ['192.168.0.9', 'fd01::1']);
});

test('mounts are told, recursively read-only where the runtime says so; the user too', () => {
  const volumeMounts = [
    { name: 'data', mountPath: '/data' },
    { name: 'ro', mountPath: '/ro', readOnly: true },
    { name: 'rro', mountPath: '/rro', readOnly: true },
  ];
  const record = aContainer('main', { recursiveReadOnlyPaths: ['/rro'], user: { uid: 1000, gid: 3000, supplementalGroups: [4000] } });
  const status = statusOf({ pod: aPod({ spec: { containers: [aSpec({ volumeMounts })] } }), observed: observedOf([aSandbox()], [record]) });
  const [container] = status.containerStatuses ?? [];
  assert.deepEqual(container?.volumeMounts, [
    { name: 'data', mountPath: '/data' },
    { name: 'ro', mountPath: '/ro', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'rro', mountPath: '/rro', readOnly: true, recursiveReadOnly: 'Enabled' },
  ]);
  assert.deepEqual(container?.user, { linux: { uid: 1000, gid: 3000, supplementalGroups: [4000] } });
});

test('a container whose end asks for a restart of all keeps the pod running, and the condition says so', () => {
  const trigger: Partial<Container> = {
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
  };
  const pod = aPod({ spec: { restartPolicy: 'Never', containers: [{ ...aSpec(), ...trigger }, aSpec({ name: 'other' })] } });
  const of = (exitCode: number) => statusOf({ pod, observed: observedOf([aSandbox()], [exited('main', exitCode), exited('other', 137)]) });
  assert.equal(of(42).phase, 'Running');
  const { status, reason, message } = condition(of(42), 'AllContainersRestarting') ?? {};
  assert.deepEqual([status, reason, message], ['True', 'RestartAllContainersStarted', 'container exited with restart policy rule']);
  assert.equal(of(1).phase, 'Failed');
  assert.deepEqual(
    [condition(of(1), 'AllContainersRestarting')?.status, condition(of(1), 'AllContainersRestarting')?.reason],
    ['False', 'PodFailed'],
  );
  assert.equal(condition(statusOf({ observed: running }), 'AllContainersRestarting'), undefined);
});

test('a sidecar that asks for a restart of all keeps a pod of finished containers running until they run again', () => {
  const source: Container = {
    ...aSpec({ name: 'source' }),
    restartPolicy: 'Always',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
  };
  const pod = aPod({ spec: { restartPolicy: 'Never', initContainers: [source], containers: [aSpec()] } });
  const stopped = statusOf({ pod, observed: observedOf([aSandbox()], [exited('source', 42), exited('main', 137)]) });
  assert.equal(stopped.phase, 'Running');
  const without = statusOf({ pod, previous: stopped, observed: observedOf([aSandbox()], [exited('source', 42)]) });
  assert.equal(without.phase, 'Running', 'records go one by one');
  const begun = statusOf({ pod, previous: without, observed: observedOf([aSandbox()], [aContainer('source', { restartCount: 1 })]) });
  assert.deepEqual([begun.phase, begun.initContainerStatuses?.[0]?.lastState?.terminated?.exitCode], ['Running', 42]);
  const over = statusOf({ pod, previous: begun, observed: observedOf([aSandbox()], [exited('source', 0), exited('main', 1)]) });
  assert.equal(over.phase, 'Failed');
});

test('how a run ended is told on when only the record of the next one is there', () => {
  const first = statusOf({ observed: observedOf([aSandbox()], [exited('main', 42)]) });
  const second = statusOf({ previous: first, observed: observedOf([aSandbox()], [aContainer('main', { restartCount: 1 })]) });
  assert.equal(second.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 42);
  const third = statusOf({ previous: second, observed: observedOf([aSandbox()], [aContainer('main', { restartCount: 1 })]) });
  assert.equal(third.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 42);
});
