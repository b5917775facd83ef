import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { parseCgroupMounts } from '#os/linux/cgroup-mounts.ts';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// What a node gives its pods: who is let in, what the kernel's own files say of it, how it changes while a pod runs, who has to make room.

const Mi = 2 ** 20;
const cluster = await startCluster({
  kubelet: {
    systemReserved: { cpu: '100m', memory: '200Mi', pid: '1000' },
    kubeReserved: { cpu: '100m', memory: '100Mi' },
    evictionHard: { 'memory.available': '50Mi' },
    podPidsLimit: 123,
    allowedUnsafeSysctls: ['kernel.msg*'],
  },
});
const { kubectl, names } = cluster;
let node: Node;
let freeMilli = 0;

before(async () => {
  node = JSON.parse(outputOf(await kubectl('get nodes -o json'))).items[0];
  freeMilli = quantityToMilli(node.status?.allocatable?.cpu ?? '0');
});

const mounts = parseCgroupMounts(readFileSync('/proc/self/mounts', 'utf8'));
const isV1 = mounts.v1.some(({ controllers }) => controllers.includes('memory'));

/** A file of a cgroup below the cluster's root, of version 1 or 2. */
function kernelSays(path: string, controller: string, v1: string, v2: string): string {
  const root = isV1 ? mounts.v1.find(({ controllers }) => controllers.includes(controller))?.root : mounts.v2?.root;
  return readFileSync(`${root}${names.cgroupRoot}${path}/${isV1 ? v1 : v2}`, 'utf8').trim();
}

const memoryLimit = (path: string) => kernelSays(path, 'memory', 'memory.limit_in_bytes', 'memory.max');
const cpuWeight = (path: string) => kernelSays(path, 'cpu', 'cpu.shares', 'cpu.weight');
const weightOf = (shares: number) => String(isV1 ? shares : 1 + Math.floor(((shares - 2) * 9999) / 262_142));
const quota = (path: string) => kernelSays(path, 'cpu', 'cpu.cfs_quota_us', 'cpu.max').split(' ')[0] ?? '';
const podPath = ({ metadata: { uid }, status }: Pod) => `${status?.qosClass === 'Guaranteed' ? '' : `/${status?.qosClass?.toLowerCase()}`}/pod${uid}`;

/** What the container itself sees of its limit. */
async function seenMemoryLimit(pod: string): Promise<string> {
  const script = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';
  return outputOf(await kubectl(['exec', pod, '--', 'sh', '-c', script])).trim();
}

function asking(name: string, requests: object, limits: object = {}, spec: object = {}, container: object = {}): object {
  return sleeper(name, spec, { resources: { requests, limits }, ...container });
}

/** Straight to the node, past the scheduler: only the kubelet can refuse it. */
const onNode = (spec: object = {}) => ({ nodeName: node.metadata.name, ...spec });

/** Reason and message of a pod that the node did not take. */
async function refused(name: string): Promise<readonly string[]> {
  await waitForField(kubectl, name, '{.status.phase}', 'Failed', 20);
  const { reason = '', message = '' } = (await getPod(kubectl, name)).status ?? {};
  return [reason, message];
}

async function resize(name: string, requests: object, limits: object = {}): Promise<void> {
  const patch = JSON.stringify({ spec: { containers: [{ name: 'main', resources: { requests, limits } }] } });
  outputOf(await kubectl(['patch', 'pod', name, '--subresource', 'resize', '--patch', patch]));
}

const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((condition) => condition.type === type);

test('subtle 12: the limit of all pods leaves the eviction reserve out, the node’s allocatable takes it off', () => {
  const { capacity = {}, allocatable = {} } = node.status ?? {};
  const memory = quantityToNumber(capacity.memory ?? '0');
  assert.equal(Number(memoryLimit('')), memory - 300 * Mi);
  const hugepages = Object.entries(capacity).flatMap(([name, amount]) => (name.startsWith('hugepages-') ? [quantityToNumber(amount)] : []));
  assert.equal(quantityToNumber(allocatable.memory ?? '0'), memory - 350 * Mi - hugepages.reduce((sum, bytes) => sum + bytes, 0));
  assert.equal(freeMilli, quantityToMilli(capacity.cpu ?? '0') - 200);
  assert.equal(allocatable['ephemeral-storage'], capacity['ephemeral-storage'], 'with memory set the disks have no threshold');
  assert.equal(cpuWeight(''), weightOf(Math.floor((freeMilli * 1024) / 1000)));
  const [pids, threads] = ['pid_max', 'threads-max'].map((file) => Number(readFileSync(`/proc/sys/kernel/${file}`, 'utf8')));
  assert.equal(Number(kernelSays('', 'pids', 'pids.max', 'pids.max')), Math.min(pids ?? 0, threads ?? 0) - 1000);
});

test('when memory runs short the kubelet goes last, where it may have that', async () => {
  const { pid } = JSON.parse(await readFile(cluster.paths.processFile('kubelet'), 'utf8'));
  const score = (await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).trim();
  const log = await readFile(`${cluster.paths.partLogs}/kubelet.log`, 'utf8');
  const isForbidden = log.includes('the kubelet is not kept from the end by memory shortage');
  assert.equal(score === '-999', !isForbidden, `its score is ${score}`);
});

test('the kernel has the weights and limits of each class, and the container sees its own', async () => {
  const small = { cpu: '100m', memory: '32Mi' };
  const unlimited = { name: 'other', image: 'docker.io/library/busybox:latest', command: ['sleep', '1000'], imagePullPolicy: 'IfNotPresent' };
  const [main] = (asking('x', { cpu: '1m', memory: '32Mi' }, { cpu: '1m', memory: '64Mi' }) as { spec: { containers: object[] } }).spec.containers;
  await apply(
    kubectl,
    asking('guaranteed', small, small),
    asking('burstable', small, { cpu: '200m', memory: '64Mi' }),
    sleeper('half', { containers: [main, unlimited] }),
    sleeper('effortless'),
    asking('weightless', { cpu: '0', memory: '1Mi' }),
  );
  for (const name of ['guaranteed', 'burstable', 'half', 'effortless', 'weightless']) await waitForPod(kubectl, name);
  const paths = await Promise.all(
    ['guaranteed', 'burstable', 'half', 'effortless', 'weightless'].map(async (name) => podPath(await getPod(kubectl, name))),
  );
  const [guaranteed = '', burstable = '', half = '', effortless = '', weightless = ''] = paths;
  const limits = (path: string) => [cpuWeight(path), quota(path), memoryLimit(path)];
  const none = [isV1 ? '-1' : 'max', isV1 ? '9223372036854771712' : 'max'];
  assert.deepEqual(limits(guaranteed), [weightOf(102), '10000', String(32 * Mi)]);
  assert.deepEqual(limits(burstable), [weightOf(102), '20000', String(64 * Mi)]);
  assert.deepEqual(limits(half), [weightOf(2), ...none], 'subtle 11: one container without limits, and the pod has none');
  assert.deepEqual(limits(effortless), [weightOf(2), ...none]);
  assert.equal(cpuWeight(weightless), weightOf(2), 'subtle 10: a request of 0 weighs 2');
  assert.equal(kernelSays(burstable, 'pids', 'pids.max', 'pids.max'), '123');
  assert.deepEqual([cpuWeight('/burstable'), cpuWeight('/besteffort')], [weightOf(Math.floor((101 * 1024) / 1000)), weightOf(2)]);
  const id = (await getPod(kubectl, 'half')).status?.containerStatuses?.find(({ name }) => name === 'main')?.containerID?.split('//')[1];
  assert.equal(quota(`${half}/${id}`), '1000', 'subtle 10: a limit of 1m is a quota of 10m');
  assert.equal(await seenMemoryLimit('burstable'), String(64 * Mi));
  outputOf(await kubectl('delete pod guaranteed burstable half effortless weightless'));
});

test('subtle 3, 4, 7: the first reason that keeps a pod out is told, in the event bare, in the status as a rejection', async () => {
  const elsewhere = { nodeSelector: { nowhere: 'true' } };
  const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name, value: '8192' }] } });
  await apply(
    kubectl,
    asking('huge', { cpu: '50' }, {}, onNode(elsewhere)),
    asking('astray', {}, {}, onNode(elsewhere)),
    asking('forbidden', {}, {}, onNode(sysctl('kernel.sem'))),
    asking('allowed', { 'example.com/unknown': '1' }, { 'example.com/unknown': '1' }, onNode(sysctl('kernel.msgmax'))),
  );
  const short = `Node didn't have enough resource: cpu, requested: 50000, used: 0, capacity: ${freeMilli}`;
  assert.deepEqual(await refused('huge'), ['OutOfcpu', `Pod was rejected: ${short}`]);
  assert.equal(await toldOf(cluster, 'huge', 'OutOfcpu'), short);
  const misfit = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  assert.deepEqual(await refused('astray'), ['NodeAffinity', `Pod was rejected: ${misfit}`]);
  assert.deepEqual(await refused('forbidden'), ['SysctlForbidden', 'Pod was rejected: forbidden sysctl: "kernel.sem" not allowlisted']);
  await waitForPod(kubectl, 'allowed');
  assert.equal(outputOf(await kubectl('exec allowed -- cat /proc/sys/kernel/msgmax')).trim(), '8192');
  outputOf(await kubectl('delete pod huge astray forbidden allowed'));
});

test('subtle 5, 6: labels given a moment ago count, and a NoSchedule taint keeps nobody out who comes past the scheduler', async () => {
  const name = node.metadata.name;
  outputOf(await kubectl(`taint node ${name} keep=out:NoSchedule`));
  outputOf(await kubectl(`label node ${name} fresh=yes`));
  await apply(kubectl, sleeper('newcomer', onNode({ nodeSelector: { fresh: 'yes' } })));
  await waitForPod(kubectl, 'newcomer');
  outputOf(await kubectl(`taint node ${name} keep-`));
  outputOf(await kubectl('delete pod newcomer'));
});

test('a pod grows and shrinks while it runs: the kernel, the container and the status say so', async () => {
  await apply(kubectl, asking('grower', { cpu: '100m', memory: '32Mi' }, { cpu: '200m', memory: '64Mi' }));
  await waitForPod(kubectl, 'grower');
  const path = podPath(await getPod(kubectl, 'grower'));
  const has = '{.status.containerStatuses[0].resources.limits.memory}';
  await resize('grower', { cpu: '300m', memory: '64Mi' }, { cpu: '400m', memory: '128Mi' });
  await waitForField(kubectl, 'grower', has, '128Mi', 20);
  await toldOf(cluster, 'grower', 'ResizeCompleted');
  assert.match(
    await toldOf(cluster, 'grower', 'ResizeStarted'),
    /^Pod resize started: \{"containers":\[\{"name":"main","resources":.*"generation":2\}$/,
  );
  assert.deepEqual([cpuWeight(path), quota(path), memoryLimit(path)], [weightOf(307), '40000', String(128 * Mi)]);
  assert.equal(await seenMemoryLimit('grower'), String(128 * Mi));
  await resize('grower', { cpu: '100m', memory: '16Mi' }, { cpu: '150m', memory: '40Mi' });
  await waitForField(kubectl, 'grower', has, '40Mi', 20);
  const pod = await getPod(kubectl, 'grower');
  const [status] = pod.status?.containerStatuses ?? [];
  assert.deepEqual(status?.resources, { limits: { cpu: '150m', memory: '40Mi' }, requests: { cpu: '100m', memory: '16Mi' } });
  assert.deepEqual([status?.allocatedResources, status?.restartCount], [{ cpu: '100m', memory: '16Mi' }, 0]);
  assert.deepEqual([quota(path), memoryLimit(path), await seenMemoryLimit('grower')], ['15000', String(40 * Mi), String(40 * Mi)]);
  outputOf(await kubectl('wait pod/grower --for=jsonpath={.status.observedGeneration}=3 --timeout=20s'));
  assert.deepEqual([conditionOf(pod, 'PodResizePending'), conditionOf(pod, 'PodResizeInProgress')], [undefined, undefined]);
  outputOf(await kubectl('delete pod grower'));
});

/** What the status says that the containers have, when it is that. */
async function waitForResources(name: string, wanted: Readonly<Record<string, object>>): Promise<Pod> {
  const deadline = AbortSignal.timeout(20_000);
  const options = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  let told: object = {};
  try {
    for await (const one of cluster.client.watch(podKind, options, deadline)) {
      if (one.type === 'BOOKMARK') continue;
      told = Object.fromEntries((one.object.status?.containerStatuses ?? []).map((status) => [status.name, status.resources ?? {}]));
      if (isDeepStrictEqual(told, wanted) && conditionOf(one.object, 'PodResizeInProgress') === undefined) return one.object;
    }
  } catch (error) {
    if (!deadline.aborted) throw error;
  }
  return assert.fail(`${name} has ${JSON.stringify(told)} instead of ${JSON.stringify(wanted)}`);
}

test('Pod InPlace Resize: several containers at once, up and down, by a patch and by the replace endpoint', async () => {
  const same = (cpu: string, memory: string) => ({ limits: { cpu, memory }, requests: { cpu, memory } });
  const { spec } = sleeper('x') as { spec: { containers: [object] } };
  const withSizes = (sizes: Readonly<Record<string, object>>) =>
    Object.entries(sizes).map(([name, resources]) => ({ ...spec.containers[0], name, resources }));
  const first = { c1: same('100m', '40Mi'), c2: same('110m', '42Mi'), c3: same('120m', '64Mi') };
  const up = { c1: same('140m', '50Mi'), c2: same('150m', '52Mi'), c3: same('80m', '48Mi') };
  const down = { c1: same('160m', '64Mi'), c2: same('60m', '40Mi'), c3: same('50m', '40Mi') };
  await apply(kubectl, sleeper('trio', { containers: withSizes(first) }));
  await waitForPod(kubectl, 'trio');
  const path = podPath(await getPod(kubectl, 'trio'));
  const patch = { spec: { containers: Object.entries(up).map(([name, resources]) => ({ name, resources })) } };
  outputOf(await kubectl(['patch', 'pod', 'trio', '--subresource', 'resize', '--patch', JSON.stringify(patch)]));
  await waitForResources('trio', up);
  assert.deepEqual([quota(path), memoryLimit(path)], ['37000', String(150 * Mi)]);
  const { metadata, spec: now } = await getPod(kubectl, 'trio');
  const containers = now?.containers.map((one) => ({ ...one, resources: down[one.name as keyof typeof down] }));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...now, containers } });
  outputOf(await kubectl(['replace', '--subresource=resize', '-f', '-'], { input }));
  const { status } = await waitForResources('trio', down);
  assert.deepEqual([quota(path), memoryLimit(path)], ['27000', String(144 * Mi)]);
  for (const one of status?.containerStatuses ?? []) {
    assert.equal(one.restartCount, 0);
    assert.equal(quota(`${path}/${one.containerID?.split('//')[1]}`), { c1: '16000', c2: '6000', c3: '5000' }[one.name]);
  }
  outputOf(await kubectl('delete pod trio'));
});

test('Pod InPlace Resize: limits and requests are added, and what is the same to the kernel is told as it was wished', async () => {
  const open = { name: 'open', image: busybox, command: ['sleep', '1000'], imagePullPolicy: 'IfNotPresent' };
  const [main] = (asking('x', { cpu: '2m', memory: '32Mi' }, { cpu: '10m', memory: '64Mi' }) as { spec: { containers: [object] } }).spec.containers;
  await apply(kubectl, sleeper('duo', { containers: [main, open] }));
  await waitForPod(kubectl, 'duo');
  const wanted = {
    main: { requests: { cpu: '1m', memory: '32Mi' }, limits: { cpu: '5m', memory: '64Mi' } },
    open: { requests: { cpu: '20m', memory: '32Mi' }, limits: { cpu: '50m', memory: '48Mi' } },
  };
  const patch = { spec: { containers: Object.entries(wanted).map(([name, resources]) => ({ name, resources })) } };
  outputOf(await kubectl(['patch', 'pod', 'duo', '--subresource', 'resize', '--patch', JSON.stringify(patch)]));
  const { status } = await waitForResources('duo', wanted);
  assert.deepEqual(
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
    [0, 0],
  );
  outputOf(await kubectl('delete pod duo'));
});

test('a container that takes memory only with a restart is restarted with it', async () => {
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  await apply(kubectl, asking('phoenix', { memory: '32Mi' }, { memory: '64Mi' }, {}, { resizePolicy }));
  await waitForPod(kubectl, 'phoenix');
  await resize('phoenix', { memory: '32Mi' }, { memory: '48Mi' });
  await waitForField(kubectl, 'phoenix', '{.status.containerStatuses[0].restartCount}', '1', 30);
  await toldOf(cluster, 'phoenix', 'ResizeCompleted');
  assert.equal(await toldOf(cluster, 'phoenix', 'Killing'), 'Container main resize requires restart');
  const pod = await getPod(kubectl, 'phoenix');
  assert.deepEqual([memoryLimit(podPath(pod)), await seenMemoryLimit('phoenix')], [String(48 * Mi), String(48 * Mi)]);
  outputOf(await kubectl('delete pod phoenix'));
});

test('a pod that wants more than there is keeps what it has, also when the kubelet comes back, and gets it when somebody leaves', async () => {
  await apply(kubectl, asking('filler', { cpu: `${freeMilli - 300}m` }), asking('waiter', { cpu: '200m' }));
  for (const name of ['filler', 'waiter']) await waitForPod(kubectl, name);
  await resize('waiter', { cpu: '500m' });
  outputOf(await kubectl('wait pod/waiter --for=condition=PodResizePending --timeout=20s'));
  const message = `Node didn't have enough resource: cpu, requested: 500, used: ${freeMilli - 300}, capacity: ${freeMilli}`;
  const waiting = async () => {
    const pod = await getPod(kubectl, 'waiter');
    const { reason, message: text } = conditionOf(pod, 'PodResizePending') ?? {};
    return [reason, text, pod.status?.containerStatuses?.[0]?.allocatedResources, cpuWeight(podPath(pod))];
  };
  const expected = ['Deferred', message, { cpu: '200m' }, weightOf(204)];
  assert.deepEqual(await waiting(), expected);
  assert.match(await toldOf(cluster, 'waiter', 'ResizeDeferred'), /^Pod resize OutOfcpu: \{/);
  process.kill(JSON.parse(await readFile(cluster.paths.processFile('kubelet'), 'utf8')).pid, 'SIGKILL');
  await apply(kubectl, sleeper('witness'));
  await waitForPod(kubectl, 'witness'); // the kubelet is back, and older pods were looked at before
  assert.deepEqual(await waiting(), expected);
  outputOf(await kubectl('delete pod filler'));
  await waitForField(kubectl, 'waiter', '{.status.containerStatuses[0].resources.requests.cpu}', '500m', 20);
  const pod = await getPod(kubectl, 'waiter');
  assert.deepEqual([cpuWeight(podPath(pod)), pod.status?.containerStatuses?.[0]?.restartCount], [weightOf(512), 0]);
  outputOf(await kubectl('delete pod waiter witness'));
});

test('a critical pod for which there is no room puts out those that it must, and they say why', async () => {
  const half = Math.floor(freeMilli / 2) - 100;
  await apply(kubectl, asking('small', { cpu: '50m' }), asking('large', { cpu: `${half}m` }), asking('larger', { cpu: `${half + 50}m` }));
  for (const name of ['small', 'large', 'larger']) await waitForPod(kubectl, name);
  const critical = asking('critical', { cpu: `${half}m` }, {}, onNode({ priorityClassName: 'system-node-critical' })) as { metadata: object };
  await apply(kubectl, { ...critical, metadata: { ...critical.metadata, namespace: 'kube-system' } });
  outputOf(await kubectl('wait -n kube-system pod/critical --for=condition=Ready --timeout=30s'));
  await waitForField(kubectl, 'large', '{.status.phase}', 'Failed', 20);
  const pod = await getPod(kubectl, 'large');
  const words = 'Preempted in order to admit critical pod';
  assert.deepEqual([pod.status?.reason, pod.status?.message], ['Preempting', words]);
  const { status, reason, message } = conditionOf(pod, 'DisruptionTarget') ?? {};
  assert.deepEqual([status, reason, message], ['True', 'TerminationByKubelet', 'Pod was preempted by Kubelet to accommodate a critical pod.']);
  assert.equal(await toldOf(cluster, 'large', 'Preempting'), words);
  const others = await Promise.all(['small', 'larger'].map(async (name) => (await getPod(kubectl, name)).status?.phase));
  assert.deepEqual(others, ['Running', 'Running']);
});
