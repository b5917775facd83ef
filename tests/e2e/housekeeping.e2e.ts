import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { createLinuxMounter } from '#os/linux/mounter.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { ContainerConfig, PodSandboxConfig } from '#wire/generated/cri.ts';
import { kubectlPath, outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// What the node does about what is left over: dead containers, logs, folders, mounts, cgroups and pods of nobody. The kubelet is killed now
// and then, and the supervisor starts it again.
const folder = await mkdtemp(join(tmpdir(), 'kubernode-'));
const manifests = join(folder, 'manifests');
await mkdir(manifests);
after(() => rm(folder, { recursive: true, force: true }));

const cluster = await startCluster({
  upFlags: ['--timing', 'partPauseMaxMs=1,housekeepingMs=300,containerGcMs=1000,logRotationMs=300,podRetryMs=500,crashBackoffBaseMs=60000'],
  kubelet: { staticPodPath: manifests, containerLogMaxSize: '100Ki', containerLogMaxFiles: 3 },
});
const { kubectl, paths, names } = cluster;
const { signal } = new AbortController();
const runtime = createCriRuntime({ endpoint: `unix://${paths.containerdSocket}`, clock: systemClock, containerdEvents: false });
after(() => runtime.close());

const logsOf = ({ metadata: { namespace, name, uid } }: Pod) => `${paths.podLogs}/${namespace}_${name}_${uid}/main`;
const idOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
const linkOf = (pod: Pod) => `${paths.containerLogs}/${pod.metadata.name}_default_main-${idOf(pod)}.log`;

async function processOf(part: 'kubelet' | 'control-plane'): Promise<number> {
  return (JSON.parse(await readFile(paths.processFile(part), 'utf8')) as { pid: number }).pid;
}

async function killKubelet(): Promise<void> {
  process.kill(await processOf('kubelet'), 'SIGKILL');
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not within 30 s: ${what}`);
    await sleep(50);
  }
}

const untilGone = (path: string) => until(`${path} is gone`, () => !existsSync(path));
const containersOf = ({ metadata: { uid } }: Pod) => runtime.listContainers({ labelSelector: { 'io.kubernetes.pod.uid': uid } }, signal);

test('kubectl logs -f goes on over rotations: no line is lost, none comes twice', async () => {
  const lines = 20_000;
  // It begins when somebody listens: of a log that was rotated before, only the current file is told.
  const writes = `while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); [ $((i % 250)) -ne 0 ] || usleep 40000; done`;
  const script = `echo "line 0"; i=1; until [ -e /go ]; do usleep 50000; done; ${writes}; sleep 2`;
  await apply(kubectl, sleeper('writer', { restartPolicy: 'Never' }, { command: ['sh', '-c', script] }));
  await waitForPod(kubectl, 'writer');
  const pod = await getPod(kubectl, 'writer');
  const follower = spawn(kubectlPath('1.35'), ['--kubeconfig', cluster.kubeconfig, 'logs', '-f', 'writer'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  follower.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const ended = once(follower, 'close');
  await once(follower.stdout, 'data');
  outputOf(await kubectl('exec writer -- touch /go'));
  await ended;
  const said = Buffer.concat(chunks).toString().trimEnd().split('\n');
  const wanted = Array.from({ length: lines }, (_, index) => `line ${index}`);
  const firstWrong = wanted.findIndex((line, index) => said[index] !== line);
  assert.deepEqual([said.length, firstWrong < 0 ? '' : said[firstWrong]], [lines, '']);
  const files = (await readdir(logsOf(pod))).map((name) => name.replace(/\d{8}-\d{6}/, 'T')).sort();
  assert.deepEqual(files, ['0.log', '0.log.T', '0.log.T.gz']);
  outputOf(await kubectl('delete pod writer'));
  await untilGone(logsOf(pod));
});

test('a log that somebody removed is there again while its container runs', async () => {
  await apply(kubectl, sleeper('talker', {}, { command: ['sh', '-c', 'trap "exit 0" TERM; while true; do echo word; sleep 0.2; done'] }));
  await waitForPod(kubectl, 'talker');
  const log = `${logsOf(await getPod(kubectl, 'talker'))}/0.log`;
  await rm(log);
  await until('the log is there', () => existsSync(log));
  await until('the log has words', async () => (await readFile(log, 'utf8')).includes('word'));
});

test('subtle 47: after a restart of the kubelet counts and log files go on, the back-off begins anew, and one dead container is kept', async () => {
  await apply(kubectl, sleeper('crasher', {}, { command: ['sh', '-c', 'echo run; exit 3'] }));
  await waitForField(kubectl, 'crasher', '{.status.containerStatuses[0].state.waiting.reason}', 'CrashLoopBackOff');
  const before = await getPod(kubectl, 'crasher');
  const waiting = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
  assert.match(waiting(before), /^back-off 1m0s restarting failed container=main /);
  assert.equal(before.status?.containerStatuses?.[0]?.restartCount, 1);
  await killKubelet();
  await waitForField(kubectl, 'crasher', '{.status.containerStatuses[0].restartCount}', '2', 50);
  await waitForField(kubectl, 'crasher', '{.status.containerStatuses[0].state.waiting.reason}', 'CrashLoopBackOff');
  const now = await getPod(kubectl, 'crasher');
  assert.match(waiting(now), /^back-off 1m0s restarting failed container=main /, 'it was not doubled');
  await until('one dead container is left', async () => (await containersOf(now)).length === 1);
  assert.deepEqual(await readdir(logsOf(now)), ['2.log']);
  assert.equal(outputOf(await kubectl('logs crasher')), 'run\n');
  assert.equal(now.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 3);
});

test('subtle 48: the runtime has forgotten a container, but its logs say that it ran four times: the next is attempt 4', async () => {
  const pod = await getPod(kubectl, 'talker');
  await writeFile(`${logsOf(pod)}/3.log`, '');
  process.kill(await processOf('kubelet'), 'SIGSTOP'); // what it does not see it cannot remember
  await runtime.removeContainer(idOf(pod), signal);
  await killKubelet();
  await waitForField(kubectl, 'talker', '{.status.containerStatuses[0].restartCount}', '4');
  await waitForPod(kubectl, 'talker');
  assert.ok(existsSync(`${logsOf(pod)}/4.log`));
});

test('agents find the log of each container under upstream\u2019s name, as long as there is the container', async () => {
  const pod = await getPod(kubectl, 'talker');
  await until('the link is there', () => existsSync(linkOf(pod)));
  assert.equal(await readlink(linkOf(pod)), `${logsOf(pod)}/4.log`);
  outputOf(await kubectl('delete pod talker crasher'));
  await until('no link is left', async () => (await readdir(paths.containerLogs)).length === 0);
});

const foldersOf = (uid: string) => `${paths.kubeletRoot}/pods/${uid}`;

test('a folder of nobody goes with its mounts, and what is mounted there keeps its files', async () => {
  const mounter = await createLinuxMounter();
  const share = join(folder, 'share');
  await mkdir(share);
  await writeFile(join(share, 'precious'), 'kept');
  const uid = randomUUID();
  const target = `${foldersOf(uid)}/volumes/kubernetes.io~nfs/share`;
  await mkdir(target, { recursive: true });
  await mounter.bind(share, target, { readOnly: false, recursive: false }, signal);
  await untilGone(foldersOf(uid));
  assert.equal(await readFile(join(share, 'precious'), 'utf8'), 'kept');
});

const kubeletSays = (text: string) =>
  until(`the log says ${text}`, async () =>
    (await readFile(join(paths.partLogs, 'kubelet.log'), 'utf8')).includes(JSON.stringify(text).slice(1, -1)),
  );

test('files in a volume of nobody stay, and the log says why', async () => {
  const uid = randomUUID();
  const target = `${foldersOf(uid)}/volumes/kubernetes.io~nfs/share`;
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'precious'), 'kept');
  await kubeletSays(`orphaned pod "${uid}" found, but failed to rmdir() volume at path ${target}: directory not empty`);
  await rm(join(target, 'precious'));
  await untilGone(foldersOf(uid));
});

test('what was mounted in a volume of a pod does not hold up its end, and keeps its files', async () => {
  const mounter = await createLinuxMounter();
  await apply(
    kubectl,
    sleeper('mounter', { volumes: [{ name: 'scratch', emptyDir: {} }] }, { volumeMounts: [{ name: 'scratch', mountPath: '/s' }] }),
  );
  await waitForPod(kubectl, 'mounter');
  const { uid } = (await getPod(kubectl, 'mounter')).metadata;
  const target = `${foldersOf(uid)}/volumes/kubernetes.io~empty-dir/scratch/inner`;
  await mkdir(target);
  await mounter.bind(join(folder, 'share'), target, { readOnly: false, recursive: false }, signal);
  outputOf(await kubectl('delete pod mounter --timeout=30s'));
  await untilGone(foldersOf(uid));
  assert.equal(await readFile(join(folder, 'share', 'precious'), 'utf8'), 'kept');
});

test('where something is mounted that is no volume, nothing is removed, and the log says why', async () => {
  const mounter = await createLinuxMounter();
  const uid = randomUUID();
  const target = `${foldersOf(uid)}/strange`;
  await mkdir(join(folder, 'strange'));
  await writeFile(join(folder, 'strange', 'precious'), 'kept');
  await mkdir(target, { recursive: true });
  await mounter.bind(join(folder, 'strange'), target, { readOnly: false, recursive: false }, signal);
  await kubeletSays(`orphaned pod "${uid}" found, but error occurred when trying to remove the pod directory: `);
  assert.equal(await readFile(`${target}/precious`, 'utf8'), 'kept');
  await mounter.unmount(target, signal);
  await untilGone(foldersOf(uid));
  assert.equal(await readFile(join(folder, 'strange', 'precious'), 'utf8'), 'kept');
});

test('a cgroup of nobody goes', async () => {
  const cgroups = createLinuxCgroups();
  const path = `${names.cgroupRoot}/besteffort/pod${randomUUID()}`;
  await cgroups.ensure(path, {}, signal);
  await until('the cgroup is gone', async () => !(await cgroups.exists(path, signal)));
});

/** A pod that nobody asked for, as a kubelet makes them; deaf to SIGTERM, and with a long grace. */
async function runOrphan(): Promise<{ readonly container: string; readonly witness: string }> {
  const uid = randomUUID();
  const witness = join(folder, 'orphan');
  await mkdir(witness);
  const about = { 'io.kubernetes.pod.name': 'orphan', 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.uid': uid };
  const sandbox = PodSandboxConfig.fromPartial({
    metadata: { name: 'orphan', uid, namespace: 'default', attempt: 0 },
    hostname: 'orphan',
    logDirectory: `${paths.podLogs}/default_orphan_${uid}`,
    labels: about,
    linux: { cgroupParent: `${names.cgroupRoot}/besteffort/pod${uid}`, securityContext: { namespaceOptions: {} } },
  });
  const sandboxId = await runtime.runPodSandbox(sandbox, '', signal);
  const config = ContainerConfig.fromPartial({
    metadata: { name: 'main', attempt: 0 },
    image: { image: busybox },
    command: ['sh', '-c', 'trap "echo told > /witness/told" TERM; while true; do sleep 0.1; done'],
    labels: { ...about, 'io.kubernetes.container.name': 'main' },
    annotations: { 'io.kubernetes.pod.terminationGracePeriod': '300' },
    mounts: [{ containerPath: '/witness', hostPath: witness }],
    logPath: 'main/0.log',
    linux: {},
  });
  await mkdir(`${sandbox.logDirectory}/main`, { recursive: true });
  const container = await runtime.createContainer(sandboxId, config, sandbox, signal);
  await runtime.startContainer(container, signal);
  return { container, witness };
}

test('subtle 59: what runs and nobody knows is left alone until every source has spoken, then killed with a grace of one second', async () => {
  const controlPlane = await processOf('control-plane');
  process.kill(controlPlane, 'SIGSTOP');
  let orphan: Awaited<ReturnType<typeof runOrphan>>;
  try {
    await killKubelet();
    orphan = await runOrphan();
    // A static pod needs no API server: it runs, so the kubelet is back and at work.
    const volume = { name: 'witness', hostPath: { path: orphan.witness } };
    const container = {
      command: ['sh', '-c', 'echo here > /witness/static; sleep 1000'],
      volumeMounts: [{ name: 'witness', mountPath: '/witness' }],
    };
    await writeFile(join(manifests, 'sign.json'), JSON.stringify(sleeper('sign', { volumes: [volume] }, container)));
    await until('the static pod runs', () => existsSync(join(orphan.witness, 'static')));
    assert.equal((await runtime.containerStatus(orphan.container, signal))?.finishedAt, 0);
    assert.equal(existsSync(join(orphan.witness, 'told')), false);
  } finally {
    process.kill(controlPlane, 'SIGCONT');
  }
  await until('the orphan is gone', async () => (await runtime.containerStatus(orphan.container, signal)) === undefined);
  assert.ok(existsSync(join(orphan.witness, 'told')));
  await rm(join(manifests, 'sign.json'));
  outputOf(await kubectl('wait pod --all --for=delete --timeout=30s'));
});
