import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import type { MemoryNode } from './testing/memory-node.ts';
import { startedNode, summary } from './testing/started-node.ts';

// The numbers are those of the list "Subtle behaviours" of the specification.

const running = (node: MemoryNode, name = 'main'): string => node.runtime.containerNamed(name) ?? assert.fail(`${name} does not run`);
const statusOf = (node: MemoryNode, name = 'main') =>
  [...(node.pod()?.status?.containerStatuses ?? []), ...(node.pod()?.status?.initContainerStatuses ?? [])].find((status) => status.name === name);

/** Ends the container, and measures how long it takes until it runs again. */
async function secondsUntilRestart(node: MemoryNode, exitCode: number): Promise<number> {
  const restarts = statusOf(node)?.restartCount ?? 0;
  const endedAtMs = node.clock.now();
  node.runtime.exit(running(node), exitCode);
  await node.settle();
  for (let waited = 0; waited < 400 && statusOf(node)?.restartCount === restarts; waited += 1) {
    await node.clock.advance(1000);
    await node.settle();
  }
  return (node.clock.now() - endedAtMs) / 1000;
}

test('subtle 26: with policy Always exit 0 backs off too: at once, 10 s, 20 s ... 300 s, from the end of the run', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  const waits: number[] = [];
  for (let n = 0; n < 8; n += 1) waits.push(await secondsUntilRestart(node, 0));
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
});

/** Containers end well when they are stopped, and to make one takes a second: long enough for a status to be told between. */
async function leisurelyNode(t: Parameters<typeof startedNode>[0]): Promise<MemoryNode> {
  const node = await startedNode(t);
  node.runtime.stopExitCode = 0;
  return node;
}
const takeTime = (node: MemoryNode) => {
  node.runtime.before = (call) => (call === 'createContainer' ? node.clock.sleep(1000, new AbortController().signal) : undefined);
};

test('subtle 19: another image restarts the container even with policy Never, and its end is not the end of the pod', async (t) => {
  const node = await leisurelyNode(t);
  const pod = node.create({ spec: { restartPolicy: 'Never' } });
  await node.settle();
  takeTime(node);
  node.api.put('pods', {
    ...pod,
    metadata: { ...pod.metadata, generation: 2 },
    spec: { ...pod.spec, containers: [aContainer({ image: 'other:1' })] },
  });
  await node.advance(3000);
  assert.ok(node.events.includes('Normal Killing Container main definition changed, will be restarted'));
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
  assert.equal(node.runtime.log.filter((call) => call === 'runPodSandbox').length, 1);
});

for (const [why, fail] of [
  ['its liveness probe fails', (node: MemoryNode) => node.probes.set('uid-of-web', running(node), 'liveness', 'failure')],
  ['its sandbox dies', (node: MemoryNode) => node.runtime.killSandbox('sandbox-1')],
] as const) {
  test(`with policy OnFailure a container that is stopped because ${why}, and ends well, is started again`, async (t) => {
    const node = await leisurelyNode(t);
    node.create({ spec: { restartPolicy: 'OnFailure', containers: [aContainer({ livenessProbe: { exec: { command: ['true'] } } })] } });
    await node.settle();
    takeTime(node);
    fail(node);
    await node.advance(3000);
    assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
  });
}

test('subtle 26: the time that a container runs does not shorten its back-off', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  assert.equal(await secondsUntilRestart(node, 1), 0);
  await node.clock.advance(120_000);
  assert.equal(await secondsUntilRestart(node, 1), 10);
});

test('subtle 26: the back-off of a sidecar ends on time, while the app runs', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { initContainers: [aContainer({ name: 'side', restartPolicy: 'Always' })] } });
  await node.settle();
  node.runtime.exit(running(node, 'side'), 1);
  await node.advance(300);
  assert.equal(statusOf(node, 'side')?.restartCount, 1);
  node.runtime.exit(running(node, 'side'), 1);
  await node.advance(9_000);
  assert.deepEqual(
    [statusOf(node, 'side')?.restartCount, statusOf(node, 'side')?.state?.waiting?.reason, summary(node.pod())],
    [1, 'CrashLoopBackOff', ['Running', 'running', 0]],
  );
  await node.advance(1_500);
  assert.deepEqual([statusOf(node, 'side')?.restartCount, statusOf(node, 'side')?.state?.running !== undefined], [2, true]);
});

test('an ephemeral container starts while init containers run, and what it cannot do holds up nobody', async (t) => {
  const node = await startedNode(t);
  const pod = node.create({ spec: { initContainers: [aContainer({ name: 'init' })] } });
  await node.settle();
  const image = 'docker.io/library/busybox:latest';
  const ephemeralContainers = [
    { name: 'lost', image: 'missing:1' },
    { name: 'debug', image },
  ];
  node.api.put('pods', { ...pod, metadata: { ...pod.metadata, generation: 2 }, spec: { ...pod.spec, ephemeralContainers } });
  await node.advance(300);
  assert.deepEqual(
    node.pod()?.status?.ephemeralContainerStatuses?.map(({ name, state }) => [name, state?.waiting?.reason ?? 'runs']),
    [
      ['debug', 'runs'],
      ['lost', 'ErrImagePull'],
    ],
  );
  node.runtime.exit(running(node, 'init'), 0);
  await node.advance(300);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('subtle 27: after a run of more than ten minutes the back-off starts over', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  assert.deepEqual([await secondsUntilRestart(node, 1), await secondsUntilRestart(node, 1)], [0, 10]);
  await node.clock.advance(601_000);
  assert.deepEqual([await secondsUntilRestart(node, 1), await secondsUntilRestart(node, 1)], [0, 10]);
});

test('subtle 28: the words of CrashLoopBackOff', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  await secondsUntilRestart(node, 1);
  node.runtime.exit(running(node), 3);
  await node.settle();
  await node.advance(300);
  const { state, lastState } = statusOf(node) ?? {};
  assert.deepEqual(state?.waiting, {
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container=main pod=web_default(uid-of-web)',
  });
  assert.equal(lastState?.terminated?.exitCode, 3);
  assert.equal(node.pod()?.status?.phase, 'Running');
  assert.ok(node.events.includes('Warning BackOff Back-off restarting failed container main in pod web_default(uid-of-web)'));
});

test('subtle 23: with policy Never a sidecar that fails starts again, and the pod goes on', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { restartPolicy: 'Never', initContainers: [aContainer({ name: 'side', restartPolicy: 'Always' })] } });
  await node.settle();
  node.runtime.exit(running(node, 'side'), 1);
  await node.settle();
  await node.advance(300);
  assert.deepEqual([statusOf(node, 'side')?.restartCount, statusOf(node, 'side')?.state?.running !== undefined], [1, true]);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 0]);
});

test('subtle 24: when the app has ended well the sidecars are stopped, and the pod has succeeded whatever they say', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { restartPolicy: 'OnFailure', initContainers: [aContainer({ name: 'side', restartPolicy: 'Always' })] } });
  await node.settle();
  node.runtime.exit(running(node), 0);
  await node.settle();
  await node.advance(1000);
  assert.deepEqual(summary(node.pod()), ['Succeeded', 'Completed', 0]);
  assert.notEqual(statusOf(node, 'side')?.state?.terminated, undefined);
});

test('rules of a container restart it for the exit codes that they name, against the policy of the pod', async (t) => {
  const node = await startedNode(t);
  const rules: Partial<Container> = {
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
  };
  node.create({ spec: { restartPolicy: 'Never', containers: [aContainer(rules)] } });
  await node.settle();
  assert.equal(await secondsUntilRestart(node, 42), 0);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
  node.runtime.exit(running(node), 1);
  await node.settle();
  await node.advance(300);
  assert.deepEqual(summary(node.pod()), ['Failed', 'Error', 1]);
});

test('a restart of all begins with the first init container, in the same sandbox, and counts for each', async (t) => {
  const node = await startedNode(t);
  const trigger: Partial<Container> = {
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
  };
  const preStop = { exec: { command: ['never-run'] } };
  const containers = [aContainer(trigger), aContainer({ name: 'other', lifecycle: { preStop } })];
  node.create({ spec: { restartPolicy: 'Never', initContainers: [aContainer({ name: 'init' })], containers } });
  await node.settle();
  node.runtime.exit(running(node, 'init'), 0);
  await node.settle();
  for (const name of ['init', 'main', 'other']) {
    // The runtime writes it; it tells how often a container was started when no record is left.
    await node.files.write(`/pod-logs/default_web_uid-of-web/${name}/0.log`, '', 0o640, new AbortController().signal);
  }
  const others = running(node, 'other');
  node.runtime.exit(running(node), 42);
  await node.settle();
  await node.advance(300);
  const restarting = () => node.pod()?.status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status;
  assert.deepEqual([statusOf(node, 'init')?.restartCount, node.pod()?.status?.phase, restarting()], [1, 'Running', 'False']);
  assert.equal(node.runtime.containerNamed('other'), undefined, 'it waits for the init container');
  node.runtime.exit(running(node, 'init'), 0);
  await node.settle();
  await node.advance(300);
  assert.notEqual(running(node, 'other'), others);
  assert.deepEqual([statusOf(node)?.restartCount, statusOf(node, 'other')?.restartCount], [1, 1]);
  assert.equal(statusOf(node)?.lastState?.terminated?.exitCode, 42);
  assert.equal(node.runtime.log.filter((call) => call === 'runPodSandbox').length, 1);
  assert.ok(!node.runtime.log.includes('execSync never-run'));
});
