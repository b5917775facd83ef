import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '#api/types/core-v1.ts';
import { type KubeletPorts, podStart } from '#kubelet/pod-start/pod-start.ts';
import { kubectlOf, outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { containerIdOf, mainProcessOf, partOf, podInRuntime, sandboxIdOf } from '../support/runtime.ts';
import { isSoak } from '../support/soak.ts';
import { type ClusterUnderTest, startCluster } from '../support/start-cluster.ts';

// The kubelet is killed at every boundary of a start and of an end, one after another; the supervisor starts it again each time. The leak
// check at the end of the file is part of each test: no mount, cgroup or directory stays of what was cut off.
// Where one step is done the next has not begun: one death is enough for both; the soak has each of them.
const sides = isSoak ? ['before', 'after'] : ['after'];
const boundaries = (points: readonly string[]) => points.flatMap((point) => sides.map((side) => `${point}:${side}`));
// The lists come from the product: a new step is killed too. Nothing of the ports is touched before a step runs.
const noPorts: KubeletPorts = new Proxy({} as KubeletPorts, { get: () => ({}) });
const { steps } = podStart(noPorts);
const begins = steps.map(({ name }) => `${name}:start`);
const ends = steps.filter(({ undo }) => undo !== undefined).map(({ name }) => `${name}:stop`);
const once = ['prepare', 'sidecar', 'main'];
const made = once.flatMap((container) => [`CreateContainer:${container}`, `StartContainer:${container}`]);
const atStart = ['admit:start:before', ...boundaries([...begins, 'RunPodSandbox', ...made]).filter((point) => point !== 'admit:start:before')];
const atEnd = [
  ...boundaries([...ends, 'StopContainer:sidecar', 'StopContainer:main', 'StopPodSandbox', 'RemovePodSandbox']),
  ...once.map((container) => `RemoveContainer:${container}:before`), // all at once: the death before the second may be the end of the first
];
const atFinish = boundaries([...ends, 'StopPodSandbox', 'StartContainer:main']);

const of = (pod: string, points: readonly string[]) => points.map((point) => `${pod}/${point}`);
const upFlags = ['--timing', 'partPauseMaxMs=1,podRetryMs=200'];
const [starting, ending] = await Promise.all([
  startCluster({ upFlags, faults: [...of('starter', atStart), ...of('finisher', [...atFinish, 'RemoveContainer:main:after'])] }),
  startCluster({ upFlags, faults: of('leaver', atEnd) }),
]);

/** Each container says on the host that it began and how it ended: what the container itself saw of it all. */
function witnessed(name: string, cluster: ClusterUnderTest, spec: object, script: string): object {
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
    { name: 'witness', hostPath: { path: witnessOf(cluster), type: 'DirectoryOrCreate' } },
  ];
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  const container = (containerName: string, work: string, more: object = {}) => ({
    name: containerName,
    image: busybox,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `echo ${containerName} >> /witness/${name}; ${work}`],
    volumeMounts,
    ...more,
  });
  const initContainers = [
    container('prepare', 'echo ready > /scratch/file'),
    container('sidecar', lastWord(name, 'sidecar'), { restartPolicy: 'Always' }),
  ];
  return sleeper(name, { volumes, initContainers, ...spec }, container('main', script));
}

/** On a machine with much to do a kubelet takes seconds to come back, and it comes back often. */
const patient = (cluster: ClusterUnderTest) => kubectlOf(cluster.kubeconfig, '1.35', 210_000);
const untilTold = 'trap "exit 0" TERM; sleep 100000 & wait';
/** The same, and it says that it ends. */
const lastWord = (pod: string, container: string) => `trap "echo ${container} ended >> /witness/${pod}; exit 0" TERM; sleep 100000 & wait`;
const witnessOf = (cluster: ClusterUnderTest) => `${cluster.paths.dataDir}/witness`;
const begun = async (cluster: ClusterUnderTest, name: string) => (await readFile(`${witnessOf(cluster)}/${name}`, 'utf8')).trim().split('\n');

/** The places at which the kubelet was killed. */
async function struck(cluster: ClusterUnderTest, pod: string): Promise<readonly string[]> {
  const files = await readdir(`${cluster.paths.runDir}/faults`);
  return files.map(decodeURIComponent).filter((place) => place.startsWith(`${pod}/`));
}

const restartsOf = ({ status }: Pod) =>
  Object.fromEntries([...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((one) => [one.name, one.restartCount]));

// Two clusters, so that their deaths are beside each other.
describe('a kubelet that is killed', { concurrency: true }, () => {
  describe('while pods start or are done', { concurrency: 1 }, () => {
    const kubectl = patient(starting);
    test('the kubelet is killed at every boundary of a start: the pod runs in its first sandbox, and no container was started twice', async () => {
      await apply(kubectl, witnessed('starter', starting, {}, untilTold));
      await waitForPod(kubectl, 'starter', 'Ready', 200);
      await untilAllHaveStruck(starting, 'starter', atStart);
      const pod = await getPod(kubectl, 'starter');
      assert.deepEqual(await begun(starting, 'starter'), once);
      const { sandboxes, ran, running } = await podInRuntime(starting, pod.metadata.uid);
      assert.deepEqual(
        sandboxes.map(({ attempt, ready }) => [attempt, ready]),
        [[0, true]],
      );
      assert.deepEqual(ran, { prepare: 1, sidecar: 1, main: 1 });
      assert.deepEqual(running, { sidecar: containerIdOf(pod, 'sidecar'), main: containerIdOf(pod, 'main') });
      // It was made and the kubelet died before it was started: it is replaced, and counts as upstream counts it.
      const unstarted = sides.length;
      assert.deepEqual(restartsOf(pod), { prepare: unstarted, sidecar: unstarted, main: unstarted });
      assert.equal(pod.status?.phase, 'Running');
      const scratch = `${starting.paths.kubeletRoot}/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/scratch`;
      assert.equal(await readFile(`${scratch}/file`, 'utf8'), 'ready\n');
      outputOf(await kubectl('delete pod starter --timeout=60s'));
    });

    test('the kubelet is killed again and again beside pods that run: each container stays the one that it was, and so does what is told of it', async () => {
      const probe = { exec: { command: ['true'] }, periodSeconds: 1 };
      const probes = { startupProbe: probe, readinessProbe: probe, livenessProbe: probe };
      const steady = witnessed('steady', starting, {}, untilTold) as { spec: { containers: object[] } };
      Object.assign(steady.spec.containers[0] ?? assert.fail(), probes);
      await apply(kubectl, steady);
      await waitForPod(kubectl, 'steady');
      const before = await getPod(kubectl, 'steady');
      const { running, sandboxes } = await podInRuntime(starting, before.metadata.uid);
      for (let death = 0; death < 3; death += 1) {
        process.kill(await partOf(starting, 'kubelet'), 'SIGKILL');
        await starting.up();
        const name = `beside-${death}`; // when it runs the kubelet has seen to the others too
        await apply(kubectl, sleeper(name));
        await waitForPod(kubectl, name);
        const { status } = await getPod(kubectl, 'steady');
        assert.deepEqual(status, before.status, `after death ${death + 1}`);
        const now = await podInRuntime(starting, before.metadata.uid);
        assert.deepEqual([now.running, now.sandboxes], [running, sandboxes]);
      }
      assert.deepEqual(await begun(starting, 'steady'), once);
      outputOf(await kubectl('delete pod steady beside-0 beside-1 beside-2 --timeout=60s'));
    });

    test('the kubelet is killed at every boundary of the end of a pod that is done: it has Succeeded, ran once, and its logs stay', async () => {
      await apply(kubectl, witnessed('finisher', starting, { restartPolicy: 'Never' }, 'echo done'));
      await waitForField(kubectl, 'finisher', '{.status.phase}', 'Succeeded', 200);
      await untilAllHaveStruck(starting, 'finisher', atFinish);
      const pod = await getPod(kubectl, 'finisher');
      assert.deepEqual(await begun(starting, 'finisher'), [...once, 'sidecar ended']);
      assert.deepEqual(restartsOf(pod), { prepare: 0, sidecar: 0, main: isSoak ? 1 : 0 }); // it died between making and starting it
      await starting.up(); // the last death was just now
      assert.equal(outputOf(await kubectl('logs finisher -c main')), 'done\n');
      outputOf(await kubectl('delete pod finisher --timeout=60s'));
      await untilAllHaveStruck(starting, 'finisher', [...atFinish, 'RemoveContainer:main:after']);
    });
  });

  describe('while pods are deleted', { concurrency: 1 }, () => {
    const kubectl = patient(ending);
    test('the kubelet is killed at every boundary of an end: the pod is gone, and nothing in it was started again', async () => {
      await apply(kubectl, witnessed('leaver', ending, {}, lastWord('leaver', 'main')));
      await waitForPod(kubectl, 'leaver');
      const { uid } = (await getPod(kubectl, 'leaver')).metadata;
      outputOf(await kubectl('delete pod leaver --wait=false'));
      outputOf(await kubectl('wait pod/leaver --for=delete --timeout=200s'));
      assert.deepEqual(await begun(ending, 'leaver'), [...once, 'main ended', 'sidecar ended']);
      assert.deepEqual((await podInRuntime(ending, uid)).sandboxes, []);
      await waitUntilGone(`${ending.paths.kubeletRoot}/pods/${uid}`);
      await untilAllHaveStruck(ending, 'leaver', atEnd);
    });

    test('up of a cluster whose kubelet has died again and again finds everything in order', async () => {
      await ending.up();
    });

    test('containerd is killed: pods live on, and who ends meanwhile is started again in the same sandbox', async () => {
      await apply(kubectl, sleeper('survivor'), sleeper('faller'));
      await Promise.all(['survivor', 'faller'].map((name) => waitForPod(kubectl, name)));
      const [survivor, faller] = await Promise.all(['survivor', 'faller'].map((name) => getPod(kubectl, name)));
      assert.ok(survivor !== undefined && faller !== undefined);
      const [sandbox, main] = [await sandboxIdOf(ending, faller), await mainProcessOf(ending, faller)];
      process.kill(await partOf(ending, 'containerd'), 'SIGKILL');
      process.kill(main, 'SIGKILL');
      await waitForField(kubectl, 'faller', '{.status.containerStatuses[0].restartCount}', '1');
      await waitForPod(kubectl, 'faller');
      assert.equal(await sandboxIdOf(ending, await getPod(kubectl, 'faller')), sandbox);
      const { status } = await getPod(kubectl, 'survivor');
      assert.equal(status?.containerStatuses?.[0]?.containerID, survivor.status?.containerStatuses?.[0]?.containerID);
      assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
      assert.equal(outputOf(await kubectl('exec survivor -- echo alive')), 'alive\n');
    });

    test('a pod that is deleted while the kubelet is away is taken down when it is back', async () => {
      const { uid } = (await getPod(kubectl, 'survivor')).metadata;
      process.kill(await partOf(ending, 'kubelet'), 'SIGKILL');
      outputOf(await kubectl('delete pod survivor --grace-period=0 --force'));
      await waitUntilGone(`${ending.paths.kubeletRoot}/pods/${uid}`);
    });
  });
});

/** The last boundaries come after the pod shows that it is where it shall be. */
async function untilAllHaveStruck(cluster: ClusterUnderTest, pod: string, points: readonly string[]): Promise<void> {
  const deadline = performance.now() + 30_000;
  while ((await struck(cluster, pod)).length < points.length && performance.now() < deadline) await sleep(50);
  assert.deepEqual([...(await struck(cluster, pod))].sort(), of(pod, points).sort());
}

async function waitUntilGone(path: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (existsSync(path)) {
    assert.ok(performance.now() < deadline, `${path} is still there`);
    await sleep(50);
  }
}
