import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aContainer } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { startCalls, startedNode, summary } from './testing/started-node.ts';

const conditionsOf = (pod: Pod | undefined) => Object.fromEntries((pod?.status?.conditions ?? []).map(({ type, status }) => [type, status]));

test('a pod starts: sandbox, container, Running with its address, in at most three patches', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  const pod = node.pod();
  assert.deepEqual(summary(pod), ['Running', 'running', 0]);
  assert.deepEqual([pod?.status?.podIP, pod?.status?.hostIP], ['10.0.0.2', '192.168.0.1']);
  assert.deepEqual(conditionsOf(pod), {
    PodReadyToStartContainers: 'True',
    Initialized: 'True',
    Ready: 'True',
    ContainersReady: 'True',
    PodScheduled: 'True',
  });
  assert.deepEqual(node.runtime.log, startCalls);
  assert.ok(node.patches <= 3, `${node.patches} patches`);
  assert.deepEqual(node.events, [
    'Normal Pulled Container image "docker.io/library/busybox:latest" already present on machine and can be accessed by the pod',
    'Normal Created Container created',
    'Normal Started Container started',
  ]);
});

test('every step is told of in the order of the list', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  const done = node.transitions.filter(({ state }) => state.kind === 'done').map(({ step }) => step);
  assert.deepEqual(done.slice(0, 13), [
    'admit',
    'network',
    'cgroups',
    'directories',
    'images-ahead',
    'volumes',
    'actions',
    'kill',
    'sandbox',
    'cni',
    'init-containers',
    'containers',
    'status',
  ]);
});

test('a settled pod is left alone: nothing more is asked of the runtime, nothing more is told', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  const before = [node.runtime.log.length, node.patches];
  await node.advance(300_000);
  assert.deepEqual([node.runtime.log.length, node.patches], before);
});

test('a container that crashes is started again at once in the same sandbox, then ever later', async (t) => {
  const node = await startedNode(t, { exitLagMs: 40 });
  node.create();
  await node.settle();
  const crash = async () => {
    node.runtime.exit(node.runtime.containerNamed('main') ?? '', 1);
    await node.advance(100);
  };
  await crash();
  assert.deepEqual(node.runtime.log, [...startCalls, 'createContainer', 'startContainer']);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
  await crash();
  await node.advance(1000);
  assert.deepEqual(summary(node.pod()), ['Running', 'CrashLoopBackOff', 1]);
  assert.equal(node.pod()?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1);
  assert.equal(conditionsOf(node.pod())['Ready'], 'False');
  await node.advance(9500);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 2]);
  assert.equal(node.pod()?.status?.podIP, '10.0.0.2');
});

test('the sandbox dies: everything starts again in a new one', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  node.runtime.killSandbox('sandbox-1');
  await node.advance(100);
  assert.deepEqual(node.runtime.log, [...startCalls, 'stopContainer', 'stopPodSandbox', ...startCalls]);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
  assert.ok(node.events.includes('Normal SandboxChanged Pod sandbox changed, it will be killed and re-created.'));
});

test('init containers run one after another, then the app', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { initContainers: [aContainer({ name: 'one' }), aContainer({ name: 'two' })] } });
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Pending', 'PodInitializing', 0]);
  assert.deepEqual(node.runtime.log, startCalls);
  node.runtime.exit(node.runtime.containerNamed('one') ?? '', 0);
  await node.settle();
  assert.deepEqual([node.runtime.containerNamed('two') !== undefined, node.runtime.containerNamed('main')], [true, undefined]);
  node.runtime.exit(node.runtime.containerNamed('two') ?? '', 0);
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('a missing ConfigMap of the environment holds the container, and its coming starts it', async (t) => {
  const node = await startedNode(t);
  const envFrom = [{ configMapRef: { name: 'settings' } }];
  node.create({ spec: { containers: [aContainer({ envFrom })] } });
  await node.settle();
  await node.advance(300);
  assert.deepEqual(summary(node.pod()), ['Pending', 'CreateContainerConfigError', 0]);
  assert.ok(node.events.includes('Warning Failed Error: configmap "settings" not found'));
  node.api.put('configmaps', aConfigMap());
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('a missing ConfigMap volume holds the pod, and its coming starts it', async (t) => {
  const node = await startedNode(t);
  const volumeMounts = [{ name: 'config', mountPath: '/config' }];
  node.create({ spec: { containers: [aContainer({ volumeMounts })], volumes: [{ name: 'config', configMap: { name: 'settings' } }] } });
  await node.settle();
  assert.deepEqual([summary(node.pod()), node.runtime.log], [['Pending', 'ContainerCreating', 0], []]);
  assert.match(node.events.join(), /Warning FailedMount MountVolume.SetUp failed for volume "config" : configmap "settings" not found/);
  node.api.put('configmaps', aConfigMap());
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('without a network the pod waits, and starts by itself when the network is there', async (t) => {
  const node = await startedNode(t);
  node.network.set({ ready: false, detail: 'cni plugin not initialized' });
  node.create();
  await node.settle();
  assert.deepEqual(node.runtime.log, []);
  assert.deepEqual(node.events, ['Warning NetworkNotReady network is not ready: cni plugin not initialized']);
  node.network.set({ ready: true, detail: '' });
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('subtle 2: while the runtime is not ready nothing is processed, and no update is lost', async (t) => {
  const node = await startedNode(t);
  node.create({ metadata: { name: 'leaver', uid: 'uid-of-leaver' } });
  await node.settle();
  node.runtimeReady.set(false);
  const calls = [...node.runtime.log];
  const { patches } = node;
  node.create();
  node.delete('leaver');
  await node.advance(100_000);
  assert.deepEqual([node.runtime.log, node.patches], [calls, patches]);
  node.runtimeReady.set(true);
  await node.settle();
  assert.deepEqual([summary(node.pod()), node.pod('leaver')], [['Running', 'running', 0], undefined]);
});

test('a pod that the node refuses is Failed with the reason, and starts nothing', async (t) => {
  const node = await startedNode(t);
  node.refuse = { reason: 'OutOfcpu', message: "Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 4000" };
  node.create();
  await node.settle();
  const { phase, reason, message } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'OutOfcpu', `Pod was rejected: ${node.refuse.message}`]);
  assert.deepEqual([node.runtime.log, node.events], [[], [`Warning OutOfcpu ${node.refuse.message}`]]);
});

test('an image that cannot be pulled: ErrImagePull, then ImagePullBackOff, then another try', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { containers: [aContainer({ image: 'missing:1' })] } });
  await node.settle();
  await node.advance(300);
  assert.deepEqual(summary(node.pod()), ['Pending', 'ErrImagePull', 0]);
  await node.advance(2000);
  assert.deepEqual(summary(node.pod()), ['Pending', 'ImagePullBackOff', 0]);
  const pulls = () => node.runtime.log.filter((call) => call.startsWith('pullImage')).length;
  assert.equal(pulls(), 1);
  await node.advance(10_000);
  assert.equal(pulls(), 2);
});

test('hooks: postStart before Running is over, preStop before the stop', async (t) => {
  const node = await startedNode(t);
  const lifecycle = { postStart: { exec: { command: ['warm-up'] } }, preStop: { httpGet: { path: '/bye', port: 8080 } } };
  node.create({ spec: { containers: [aContainer({ lifecycle })] } });
  await node.settle();
  node.delete();
  await node.settle();
  assert.deepEqual(node.runtime.log.slice(2, 5), ['startContainer', 'execSync warm-up', 'stopContainer']);
  assert.deepEqual(node.http, ['10.0.0.2:8080/bye']);
});

test('subtle 29, 30: while a postStart hook runs its container runs, but the status stays as before, and the next one is not begun', async (t) => {
  const node = await startedNode(t);
  const lifecycle = { postStart: { exec: { command: ['warm-up'] } } };
  node.runtime.before = (call) => (call === 'execSync warm-up' ? node.clock.sleep(20_000, new AbortController().signal) : undefined);
  node.create({ spec: { containers: [aContainer({ lifecycle }), aContainer({ name: 'next' })] } });
  await node.advance(10_000);
  assert.deepEqual(node.runtime.log, startCalls);
  assert.deepEqual(summary(node.pod()), ['Pending', 'ContainerCreating', 0]);
  await node.advance(11_000);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
  assert.equal(conditionsOf(node.pod())['Ready'], 'True');
});

test('a liveness failure restarts the container with its words', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { containers: [aContainer({ livenessProbe: { exec: { command: ['true'] } } })] } });
  await node.settle();
  node.probes.set('uid-of-web', node.runtime.containerNamed('main') ?? '', 'liveness', 'failure');
  await node.settle();
  assert.ok(node.events.includes('Normal Killing Container main failed liveness probe, will be restarted'));
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
});

test('a pod is Ready when its readiness probe says so', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { containers: [aContainer({ readinessProbe: { exec: { command: ['true'] } } })] } });
  await node.settle();
  assert.equal(conditionsOf(node.pod())['Ready'], 'False');
  node.probes.set('uid-of-web', node.runtime.containerNamed('main') ?? '', 'readiness', 'success');
  await node.advance(300);
  assert.equal(conditionsOf(node.pod())['Ready'], 'True');
});

test('subtle 65: a readiness gate that its owner opens makes the pod Ready at once, without a look at the containers', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } });
  await node.settle();
  assert.deepEqual([conditionsOf(node.pod())['Ready'], conditionsOf(node.pod())['ContainersReady']], ['False', 'True']);
  const calls = node.runtime.log.length;
  const pod = node.pod();
  const conditions = [...(pod?.status?.conditions ?? []), { type: 'example.com/gate', status: 'True' }];
  node.api.put('pods', { ...pod, status: { ...pod?.status, conditions } });
  await node.settle();
  assert.deepEqual([conditionsOf(node.pod())['Ready'], node.runtime.log.length], ['True', calls]);
  assert.equal(conditionsOf(node.pod())['example.com/gate'], 'True');
});

test('the API server is away: pods start all the same, and are told of when it is back', async (t) => {
  const node = await startedNode(t);
  node.create();
  await new Promise((resolve) => setImmediate(resolve));
  node.api.setUnreachable(true);
  await node.settle();
  assert.deepEqual(node.runtime.log, startCalls);
  node.api.setUnreachable(false);
  await node.advance(1000);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});
