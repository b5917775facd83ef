import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { quantityToMilli } from '#api/quantity.ts';
import type { Node } from '#api/types/core-v1.ts';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { containerIdOf, partOf, whileStill, withRuntime } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';

// Subtle behaviours of the kubelet (the numbers are those of its specification) that concern a whole node: a runtime that is away or of
// another mind, a kubelet that comes back, a node under pressure. Memory is always short here, for longer than the tests take.

const cluster = await startCluster({
  kubelet: {
    evictionHard: { 'memory.available': '1Mi' },
    evictionSoft: { 'memory.available': '99%' },
    evictionSoftGracePeriod: { 'memory.available': '1h' },
  },
  upFlags: ['--timing', 'partPauseMaxMs=1,podRetryMs=200'],
});
const { kubectl, paths } = cluster;
let node: Node;
let cpuMilli = 0;

before(async () => {
  node = JSON.parse(outputOf(await kubectl('get nodes -o json'))).items[0];
  cpuMilli = quantityToMilli(node.status?.allocatable?.cpu ?? '0');
});

/** Burstable and straight to the node: neither the scheduler nor the pressure keeps it out. */
const onNode = (name: string, spec: object = {}, cpu = 1, container: object = {}) =>
  sleeper(name, { nodeName: node.metadata.name, ...spec }, { resources: { requests: { cpu: `${cpu}m` } }, ...container });
const most = () => Math.floor(cpuMilli * 0.6);

test('subtle 2: while the runtime is away nothing happens to pods, and when it is back no change is lost', async () => {
  await apply(kubectl, onNode('leaver'), onNode('stayer'));
  await Promise.all(['leaver', 'stayer'].map((name) => waitForPod(kubectl, name)));
  await whileStill(cluster, 'containerd', async () => {
    await apply(kubectl, onNode('comer'));
    outputOf(await kubectl('delete pod leaver --wait=false'));
    const [comer, leaver] = [await getPod(kubectl, 'comer'), await getPod(kubectl, 'leaver')];
    assert.deepEqual([comer.status?.phase, leaver.status?.phase], ['Pending', 'Running']);
    assert.notEqual(leaver.status?.containerStatuses?.[0]?.state?.running, undefined);
  });
  await waitForPod(kubectl, 'comer');
  outputOf(await kubectl('wait pod/leaver --for=delete --timeout=30s'));
  assert.equal((await getPod(kubectl, 'stayer')).status?.containerStatuses?.[0]?.restartCount, 0);
});

test('subtle 8: a kubelet that comes back asks for all pods again, the oldest first, and pods that are over have no room', async () => {
  await apply(kubectl, onNode('over', { restartPolicy: 'Never' }, most(), { command: ['true'] }));
  await waitForField(kubectl, 'over', '{.status.phase}', 'Succeeded');
  await apply(kubectl, onNode('older', {}, most()));
  await waitForPod(kubectl, 'older');
  const older = await getPod(kubectl, 'older');
  await whileStill(cluster, 'kubelet', async () => {
    await apply(kubectl, onNode('younger', {}, most()));
    process.kill(await partOf(cluster, 'kubelet'), 'SIGKILL');
  });
  await waitForField(kubectl, 'younger', '{.status.phase}', 'Failed');
  const { reason, message } = (await getPod(kubectl, 'younger')).status ?? {};
  assert.equal(reason, 'OutOfcpu');
  const used = most() + 2; // `comer` and `stayer` have one each
  assert.equal(message, `Pod was rejected: Node didn't have enough resource: cpu, requested: ${most()}, used: ${used}, capacity: ${cpuMilli}`);
  const after = await getPod(kubectl, 'older');
  assert.deepEqual([after.status?.phase, containerIdOf(after)], ['Running', containerIdOf(older)]);
  assert.equal((await getPod(kubectl, 'over')).status?.phase, 'Succeeded');
  outputOf(await kubectl('delete pod over older younger'));
});

test('subtle 60: with evictionHard for memory alone no disk has a threshold', async () => {
  const { capacity, allocatable } = node.status ?? {};
  assert.equal(allocatable?.['ephemeral-storage'], capacity?.['ephemeral-storage']);
  const configz = outputOf(await kubectl(['get', '--raw', `/api/v1/nodes/${node.metadata.name}/proxy/configz`]));
  const { kubeletconfig } = JSON.parse(configz) as { readonly kubeletconfig: { readonly evictionHard: object } };
  assert.deepEqual(kubeletconfig.evictionHard, { 'memory.available': '1Mi' });
});

test('subtle 61: under MemoryPressure a BestEffort pod is refused unless it tolerates that; a Burstable one is let in', async () => {
  outputOf(await kubectl(`wait node/${node.metadata.name} --for=condition=MemoryPressure --timeout=40s`));
  const tolerations = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }];
  const nodeName = node.metadata.name;
  await apply(kubectl, sleeper('effortless', { nodeName }), sleeper('tolerant', { nodeName, tolerations }), onNode('burstable'));
  await Promise.all(['tolerant', 'burstable'].map((name) => waitForPod(kubectl, name)));
  await waitForField(kubectl, 'effortless', '{.status.phase}', 'Failed');
  const { reason, message } = (await getPod(kubectl, 'effortless')).status ?? {};
  assert.deepEqual([reason, message], ['Evicted', 'Pod was rejected: The node had condition: [MemoryPressure]. ']);
});

test('subtle 67, 68: the driver is as configured where the runtime cannot say; where the two differ, the sandbox fails in the runtime’s words', async () => {
  const driver = await withRuntime(cluster, (runtime, signal) => runtime.cgroupDriver(signal)).catch((error: { code: string }) => error.code);
  assert.ok(driver === 'cgroupfs' || driver === 'UNSUPPORTED', `the runtime says ${driver}`); // containerd before 2.0 cannot say
  assert.doesNotMatch(await readFile(`${paths.partLogs}/kubelet.log`, 'utf8'), /RuntimeConfig|configuration of the runtime/);
  const config = await readFile(paths.containerdConfig, 'utf8');
  await restartedWith(config.replaceAll('SystemdCgroup = false', 'SystemdCgroup = true'));
  await apply(kubectl, onNode('misfit'));
  const words = await toldOf(cluster, 'misfit', 'FailedCreatePodSandBox', (message) => message.includes('cgroupsPath'));
  assert.match(words, /^Failed to create pod sandbox: .*expected cgroupsPath to be of format \\?"slice:prefix:name\\?" for systemd cgroups/);
  await restartedWith(config);
  await waitForPod(kubectl, 'misfit');
});

async function restartedWith(config: string): Promise<void> {
  await writeFile(paths.containerdConfig, config);
  process.kill(await partOf(cluster, 'containerd'), 'SIGKILL');
}
