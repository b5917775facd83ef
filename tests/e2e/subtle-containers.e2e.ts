import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { NamespaceMode, PodSandboxConfig } from '#wire/generated/cri.ts';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, waitForField, waitForPod } from '../support/pods.ts';
import { containerIdOf, ctr, mainProcessOf, pauseProcessOf, podInRuntime, sandboxIdOf, whileStill, withRuntime } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';
import { startWitness, until, untilTold } from '../support/witness.ts';

// Subtle behaviours of the kubelet (the numbers are those of its specification) that only a real runtime shows: what becomes of containers
// and sandboxes that die, vanish or appear behind the kubelet's back, and in which order things start and end.

const cluster = await startCluster({ upFlags: ['--timing', 'crashBackoffBaseMs=100'] });
const { kubectl } = cluster;
const { container, pod, said, give } = await startWitness(cluster);
const always = { restartPolicy: 'Always' };

const conditionOf = (one: Pod, type: string) => one.status?.conditions?.find((condition) => condition.type === type);
const kill = (pid: number) => process.kill(pid, 'SIGKILL');
const killPause = async (one: Pod) => kill(await pauseProcessOf(cluster, await sandboxIdOf(cluster, one)));
const attemptsOf = async (one: Pod) => (await podInRuntime(cluster, one.metadata.uid)).sandboxes.map(({ attempt, ready }) => ({ attempt, ready }));
const restarted = (name: string, times = 1, container = 0) =>
  waitForField(kubectl, name, `{.status.containerStatuses[${container}].restartCount}`, String(times));

async function running(...pods: readonly object[]): Promise<readonly Pod[]> {
  await apply(kubectl, ...pods);
  const names = pods.map((one) => (one as Pod).metadata.name);
  await Promise.all(names.map((name) => waitForPod(kubectl, name)));
  return await Promise.all(names.map((name) => getPod(kubectl, name)));
}

/** Every state of the pod that the API server has told of, until one is the last. */
async function historyOf(name: string, isLast: (one: Pod) => boolean): Promise<readonly Pod[]> {
  const all: Pod[] = [];
  for await (const one of cluster.client.watch(
    podKind,
    { namespace: 'default', fieldSelector: `metadata.name=${name}` },
    AbortSignal.timeout(40_000),
  )) {
    if (one.type === 'BOOKMARK') continue;
    all.push(one.object);
    if (isLast(one.object)) return all;
  }
  return assert.fail(`the watch of ${name} has ended`);
}

describe('a pod', { concurrency: 3 }, () => {
  test('subtle 1: the first that is told of a pod is Pending and ContainerCreating, with its start time, before anything is made', async () => {
    const volumes = [{ name: 'absent', configMap: { name: 'absent' } }];
    const told = historyOf('first', ({ status }) => status?.startTime !== undefined);
    await apply(kubectl, pod('first', { volumes }, untilTold, { volumeMounts: [{ name: 'absent', mountPath: '/absent' }] }));
    const { metadata, status } = (await told).at(-1) ?? assert.fail();
    assert.deepEqual(
      [status?.phase, status?.containerStatuses?.[0]?.state, status?.podIP],
      ['Pending', { waiting: { reason: 'ContainerCreating' } }, undefined],
    );
    assert.deepEqual(await podInRuntime(cluster, metadata.uid), { sandboxes: [], made: {}, ran: {}, running: {} });
  });

  test('subtle 15: with policy Always a sandbox that died is made anew, all init containers run again, and the address is another', async () => {
    const initContainers = [container('uprooted', 'one', 'true'), container('uprooted', 'two', 'true')];
    const [before] = await running(pod('uprooted', { initContainers }));
    await killPause(before ?? assert.fail());
    await restarted('uprooted');
    await waitForPod(kubectl, 'uprooted');
    const after = await getPod(kubectl, 'uprooted');
    assert.deepEqual(await said('uprooted'), ['one', 'two', 'main', 'one', 'two', 'main']);
    assert.deepEqual(
      (await attemptsOf(after)).filter(({ ready }) => ready),
      [{ attempt: 1, ready: true }],
    );
    assert.notEqual(after.status?.podIP, before?.status?.podIP);
    assert.equal(await toldOf(cluster, 'uprooted', 'SandboxChanged'), 'Pod sandbox changed, it will be killed and re-created.');
  });

  test('subtle 16: with policy Never a sandbox that died is not made anew once a container was there: the pod is over', async () => {
    const spec = { restartPolicy: 'Never' };
    const both = await running(pod('well', spec), pod('ill', spec, 'trap "exit 3" TERM; sleep 100000 & wait'));
    for (const one of both) await killPause(one);
    await waitForField(kubectl, 'well', '{.status.phase}', 'Succeeded');
    await waitForField(kubectl, 'ill', '{.status.phase}', 'Failed');
    for (const one of both) {
      assert.deepEqual(await attemptsOf(one), [{ attempt: 0, ready: false }]);
      assert.deepEqual(await said(one.metadata.name), ['main']);
    }
  });

  test('subtle 18: of two sandboxes that are ready none stays: both are stopped, and another one is made', async () => {
    const [before = assert.fail()] = await running(pod('twin'));
    const cgroups = await readFile(`/proc/${await pauseProcessOf(cluster, await sandboxIdOf(cluster, before))}/cgroup`, 'utf8');
    const cgroupParent = /:(\/.+)\/[^/]+$/m.exec(cgroups)?.[1] ?? '';
    const { name, namespace = '', uid } = before.metadata;
    const labels = { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': namespace, 'io.kubernetes.pod.uid': uid };
    const config = PodSandboxConfig.fromPartial({
      metadata: { name, namespace, uid, attempt: 1 },
      labels,
      linux: { cgroupParent, securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } },
    });
    await withRuntime(cluster, (runtime, signal) => runtime.runPodSandbox(config, '', signal));
    await restarted('twin');
    await waitForPod(kubectl, 'twin');
    const attempts = await attemptsOf(before);
    assert.deepEqual(
      attempts.filter(({ ready }) => ready),
      [{ attempt: 2, ready: true }],
    );
    assert.deepEqual(await said('twin'), ['main', 'main']);
  });

  test('subtle 19, 20: another image restarts the container even with policy Never; labels, annotations and tolerations restart nothing', async () => {
    const other = 'docker.io/library/busybox:other';
    await ctr(cluster, ['images', 'tag', busybox, other]);
    await running(pod('renewed', { restartPolicy: 'Never' }));
    outputOf(await kubectl('label pod renewed colour=blue'));
    outputOf(await kubectl('annotate pod renewed colour=blue'));
    const toleration = [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'colour', operator: 'Exists' } }];
    outputOf(await kubectl(['patch', 'pod', 'renewed', '--type=json', '-p', JSON.stringify(toleration)]));
    outputOf(await kubectl(['patch', 'pod', 'renewed', '-p', '{"spec":{"activeDeadlineSeconds":1000}}']));
    const env = { spec: { containers: [{ name: 'main', env: [{ name: 'COLOUR', value: 'blue' }] }] } };
    assert.match((await kubectl(['patch', 'pod', 'renewed', '-p', JSON.stringify(env)])).stderr, /pod updates may not change fields other than/);
    outputOf(await kubectl(['set', 'image', 'pod/renewed', `main=${other}`]));
    await restarted('renewed');
    await waitForPod(kubectl, 'renewed');
    assert.equal(await toldOf(cluster, 'renewed', 'Killing'), 'Container main definition changed, will be restarted');
    const after = await getPod(kubectl, 'renewed');
    assert.deepEqual(await said('renewed'), ['main', 'main']);
    assert.deepEqual([after.status?.phase, (await attemptsOf(after)).length], ['Running', 1]);
  });

  test('subtle 21: an init container that is done and whose record is gone does not run again while the app runs', async () => {
    const other = 'docker.io/library/busybox:again';
    await ctr(cluster, ['images', 'tag', busybox, other]);
    const [before = assert.fail()] = await running(pod('forgetful', { initContainers: [container('forgetful', 'init', 'true')] }));
    await withRuntime(cluster, (runtime, signal) => runtime.removeContainer(containerIdOf(before, 'init'), signal));
    outputOf(await kubectl(['set', 'image', 'pod/forgetful', `main=${other}`])); // something to do for the kubelet
    await restarted('forgetful');
    await waitForPod(kubectl, 'forgetful');
    assert.deepEqual(await said('forgetful'), ['init', 'main', 'main']);
    assert.equal((await getPod(kubectl, 'forgetful')).status?.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
  });

  test('subtle 23: with policy Never a sidecar that ends with 1 is started again, and the pod goes on', async () => {
    const side = container('dogged', 'side', `if mkdir $W.once; then exit 1; fi; ${untilTold}`, always);
    await apply(kubectl, pod('dogged', { restartPolicy: 'Never', initContainers: [side] }));
    await waitForField(kubectl, 'dogged', '{.status.initContainerStatuses[0].restartCount}', '1');
    await waitForPod(kubectl, 'dogged');
    const { status } = await getPod(kubectl, 'dogged');
    assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.restartCount], ['Running', 0]);
    assert.equal((await said('dogged')).filter((name) => name === 'main').length, 1);
  });

  test('subtle 24: when the apps have ended well the sidecars are stopped, and the pod has Succeeded whatever their exit code', async () => {
    const side = container('modest', 'side', 'trap "exit 7" TERM; sleep 100000 & wait', always);
    await apply(kubectl, pod('modest', { restartPolicy: 'OnFailure', initContainers: [side] }, 'true'));
    await waitForField(kubectl, 'modest', '{.status.phase}', 'Succeeded');
    const { status } = await getPod(kubectl, 'modest');
    assert.equal(status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 7);
    assert.deepEqual(await said('modest'), ['side', 'main']);
  });

  test('subtle 25: the next init container waits for the startup probe of a sidecar, not for its readiness', async () => {
    const probes = {
      startupProbe: { exec: { command: ['sh', '-c', 'test -f $W.up'] }, periodSeconds: 1, failureThreshold: 60 },
      readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 },
    };
    const side = container('staged', 'side', untilTold, { ...always, ...probes });
    await apply(kubectl, pod('staged', { initContainers: [side, container('staged', 'next', 'true')] }));
    await toldOf(cluster, 'staged', 'Unhealthy', (message) => message.startsWith('Startup probe failed'));
    assert.deepEqual(await said('staged'), ['side']);
    await give('staged', 'up');
    await waitForPod(kubectl, 'staged', 'Initialized');
    await until('main runs', async () => (await said('staged')).length === 3);
    assert.deepEqual(await said('staged'), ['side', 'next', 'main']);
    await waitForPod(kubectl, 'staged', 'ContainersReady=false');
    assert.equal(conditionOf(await getPod(kubectl, 'staged'), 'Ready')?.message, 'containers with unready status: [side]');
  });

  test('subtle 29, 30: while a postStart hook runs its container runs unseen, and the next one is not begun', async () => {
    const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'until test -f $W.go; do sleep 0.1; done; echo hooked >> $W'] } } };
    const [first] = (pod('polite', {}, untilTold, { lifecycle }) as { spec: { containers: object[] } }).spec.containers;
    await apply(kubectl, pod('polite', { containers: [first, container('polite', 'second')] }));
    await until('the first container runs', async () => (await said('polite')).length === 1);
    const before = await getPod(kubectl, 'polite');
    outputOf(await kubectl('annotate pod polite look=again'));
    const { made, ran } = await podInRuntime(cluster, before.metadata.uid);
    assert.deepEqual([made, ran], [{ main: 1 }, { main: 1 }]);
    const { status } = await getPod(kubectl, 'polite');
    assert.deepEqual(
      [status?.phase, ...(status?.containerStatuses ?? []).map(({ state }) => state?.waiting?.reason)],
      ['Pending', 'ContainerCreating', 'ContainerCreating'],
    );
    await give('polite', 'go');
    await waitForPod(kubectl, 'polite');
    assert.deepEqual(await said('polite'), ['main', 'hooked', 'second']);
  });

  test('subtle 31: a readiness failure makes the pod unready once, and restarts nothing', async () => {
    const readinessProbe = { exec: { command: ['sh', '-c', 'test ! -f $W.ill'] }, periodSeconds: 1, failureThreshold: 1 };
    await running(pod('moody', {}, untilTold, { readinessProbe }));
    await give('moody', 'ill');
    await waitForPod(kubectl, 'moody', 'Ready=false');
    const before = await getPod(kubectl, 'moody');
    await toldOf(cluster, 'moody', 'Unhealthy');
    const filter = 'involvedObject.name=moody,reason=Unhealthy';
    const times = async () => Number(outputOf(await kubectl(['get', 'events', '--field-selector', filter, '-o', 'jsonpath={.items[0].count}'])));
    await until('it has failed again and again', async () => (await times()) >= 3);
    const after = await getPod(kubectl, 'moody');
    assert.equal(conditionOf(after, 'Ready')?.lastTransitionTime, conditionOf(before, 'Ready')?.lastTransitionTime);
    assert.deepEqual([containerIdOf(after), after.status?.containerStatuses?.[0]?.restartCount], [containerIdOf(before), 0]);
    assert.deepEqual(await said('moody'), ['main']);
  });

  test('subtle 32, 34: liveness is not asked before the startup probe has passed, nor again once it has failed', async () => {
    const every = { periodSeconds: 1, failureThreshold: 1 };
    const probes = {
      startupProbe: { ...every, exec: { command: ['sh', '-c', 'test -f $W.up'] }, failureThreshold: 60 },
      livenessProbe: { ...every, exec: { command: ['sh', '-c', 'echo asked >> $W; false'] } },
    };
    const slow = 'trap "sleep 3; echo ended >> $W; exit 0" TERM; sleep 100000 & wait';
    await apply(kubectl, pod('doomed', { terminationGracePeriodSeconds: 10 }, slow, probes));
    await toldOf(cluster, 'doomed', 'Unhealthy', (message) => message.startsWith('Startup probe failed'));
    assert.deepEqual(await said('doomed'), ['main']);
    await give('doomed', 'up');
    await restarted('doomed');
    assert.deepEqual((await said('doomed')).slice(0, 4), ['main', 'asked', 'ended', 'main']);
    outputOf(await kubectl('delete pod doomed --wait=false'));
  });

  test('subtle 43: a pod whose phase is terminal in the API stays so, and what runs of it is killed', async () => {
    await running(pod('condemned'));
    outputOf(await kubectl(['patch', 'pod', 'condemned', '--subresource=status', '-p', '{"status":{"phase":"Failed","reason":"Because"}}']));
    await waitForField(kubectl, 'condemned', '{.status.containerStatuses[0].state.terminated.exitCode}', '0');
    const { status } = await getPod(kubectl, 'condemned');
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'Because']);
    assert.deepEqual(await said('condemned'), ['main']);
  });

  test('subtle 44: that a pod has Failed is told when its containers are dead', async () => {
    const slow = 'trap "sleep 2; exit 0" TERM; sleep 100000 & wait';
    const told = historyOf('late', ({ status }) => status?.phase === 'Failed');
    await apply(kubectl, pod('late', { activeDeadlineSeconds: 2, terminationGracePeriodSeconds: 10 }, slow));
    const history = await told;
    assert.ok(history.some(({ status }) => status?.phase === 'Running'));
    for (const { status } of history.filter((one) => one.status?.containerStatuses?.[0]?.state?.running !== undefined)) {
      assert.deepEqual([status?.phase, status?.reason], ['Running', undefined]);
    }
    const { status } = history.at(-1) ?? assert.fail();
    assert.deepEqual([status?.reason, status?.containerStatuses?.[0]?.state?.terminated?.exitCode], ['DeadlineExceeded', 0]);
  });

  test('subtle 62: activeDeadlineSeconds count from the start time of the status, also of a pod of which nothing ran', async () => {
    const volumes = [{ name: 'absent', configMap: { name: 'absent' } }];
    const mount = { volumeMounts: [{ name: 'absent', mountPath: '/absent' }] };
    await apply(kubectl, pod('unborn', { activeDeadlineSeconds: 2, volumes }, untilTold, mount));
    await waitForField(kubectl, 'unborn', '{.status.phase}', 'Failed');
    const { status } = await getPod(kubectl, 'unborn');
    assert.deepEqual([status?.reason, status?.message], ['DeadlineExceeded', 'Pod was active on the node longer than the specified deadline']);
    const tookMs = Date.parse(conditionOf(await getPod(kubectl, 'unborn'), 'Ready')?.lastTransitionTime ?? '') - Date.parse(status?.startTime ?? '');
    assert.ok(tookMs <= 0 || (tookMs >= 2000 && tookMs < 6000), `${tookMs} ms`);
  });
});

// The kubelet stands still meanwhile: it finds what has happened, and has seen nothing of it.
describe('what happens unseen', { concurrency: 1 }, () => {
  test('subtle 22: after all has exited at once, as in a reboot, the init containers run again', async () => {
    const [before = assert.fail()] = await running(pod('rebooted', { initContainers: [container('rebooted', 'init', 'true')] }));
    await whileStill(cluster, 'kubelet', async () => {
      const pids = [await mainProcessOf(cluster, before), await pauseProcessOf(cluster, await sandboxIdOf(cluster, before))];
      for (const pid of pids) kill(pid);
      await until('the sandbox is dead', async () => (await attemptsOf(before)).every(({ ready }) => !ready));
    });
    await restarted('rebooted');
    await waitForPod(kubectl, 'rebooted');
    assert.deepEqual(await said('rebooted'), ['init', 'main', 'init', 'main']);
  });

  test('subtle 42: a running container that vanished from the runtime has ended with 137 ContainerStatusUnknown', async () => {
    const [before = assert.fail()] = await running(pod('robbed'));
    await whileStill(cluster, 'kubelet', () => withRuntime(cluster, (runtime, signal) => runtime.removeContainer(containerIdOf(before), signal)));
    await restarted('robbed');
    await waitForPod(kubectl, 'robbed');
    const [status] = (await getPod(kubectl, 'robbed')).status?.containerStatuses ?? [];
    assert.deepEqual(status?.lastState?.terminated, {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was deleted.  The container used to be Running',
    });
    assert.notEqual(containerIdOf(await getPod(kubectl, 'robbed')), containerIdOf(before));
  });
});
