import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { before, test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { parseCgroupMounts } from '#os/linux/cgroup-mounts.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// A cluster whose kubelet answers the API server and whoever has a token; its figures are those of the host's own files.

const cluster = await startCluster({
  kubelet: { volumeStatsAggPeriod: '1s', authorization: { webhook: { cacheUnauthorizedTTL: '0s' } }, enableProfilingHandler: false },
});
const { kubectl } = cluster;
const mebibyte = 2 ** 20;
const account = 'system:serviceaccount:default:reader';

let nodeName = '';
let kubelet: { readonly host: string; readonly port: number };
let pod: Pod;

before(async () => {
  nodeName = outputOf(await kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));
  const at = '{.items[0].status.addresses[?(@.type=="InternalIP")].address} {.items[0].status.daemonEndpoints.kubeletEndpoint.Port}';
  const [host = '', port = ''] = outputOf(await kubectl(['get', 'nodes', '-o', `jsonpath=${at}`])).split(' ');
  kubelet = { host, port: Number(port) };
  await apply(kubectl, busyPod());
  await waitForPod(kubectl, 'busy');
  pod = await getPod(kubectl, 'busy');
});

/** Holds 20 MiB of memory, 6 MiB of its writable layer, and 3 MiB of an emptyDir. */
function busyPod(): object {
  const script = [
    'dd if=/dev/zero of=/layer bs=1M count=6 2>/dev/null',
    'dd if=/dev/zero of=/scratch/file bs=1M count=3 2>/dev/null',
    'ln /scratch/file /scratch/same',
    'dd if=/dev/zero of=/dev/shm/held bs=1M count=20 2>/dev/null',
    'for i in 1 2 3; do echo line $i; done',
    'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done',
    'echo ready; touch /ready',
    'sleep 1000',
  ].join('; ');
  const spec = { volumes: [{ name: 'scratch', emptyDir: {} }] };
  const readinessProbe = { exec: { command: ['test', '-e', '/ready'] }, periodSeconds: 1 };
  const resources = { limits: { memory: '64Mi' }, requests: { memory: '32Mi' } };
  return sleeper('busy', spec, {
    command: ['sh', '-c', script],
    resources,
    readinessProbe,
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  });
}

interface Usage {
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly availableBytes?: number;
}

interface FsUsage {
  readonly usedBytes?: number;
  readonly inodesUsed?: number;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
}

interface ContainerStats {
  readonly name: string;
  readonly memory: Usage;
  readonly cpu: { readonly usageCoreNanoSeconds: number };
  readonly rootfs?: FsUsage;
  readonly logs?: FsUsage;
}

interface Summary {
  readonly node: { readonly nodeName: string; readonly memory: Usage; readonly fs?: FsUsage; readonly runtime?: { readonly imageFs: FsUsage } };
  readonly pods: readonly {
    readonly podRef: { readonly name: string };
    readonly memory: Usage;
    readonly containers: readonly ContainerStats[];
    readonly network?: { readonly name: string };
    readonly volume?: readonly (FsUsage & { readonly name: string })[];
    readonly 'ephemeral-storage'?: FsUsage;
    readonly process_stats?: { readonly process_count: number };
  }[];
}

/** Through the API server's proxy, as an administrator. */
async function raw(path: string): Promise<string> {
  return outputOf(await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy${path}`]));
}

async function busyIn(path: string) {
  const summary: Summary = JSON.parse(await raw(path));
  const found = summary.pods.find(({ podRef }) => podRef.name === 'busy');
  const container = found?.containers[0];
  if (found === undefined || container === undefined) throw new Error(`the pod is not in ${JSON.stringify(summary)}`);
  return { node: summary.node, found, container };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly allow: string | undefined;
}

/** The kubelet itself. */
function ask(path: string, token?: string, method = 'GET'): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request({ ...kubelet, path, method, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(), allow: response.headers.allow }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** A file of the container's own cgroup, as the host shows it. */
function ownFile(controller: string, v1: string, v2: string): string {
  const id = pod.status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, '') ?? '';
  const mounts = parseCgroupMounts(readFileSync('/proc/self/mounts', 'utf8'));
  const tree = mounts.v1.find(({ controllers }) => controllers.includes(controller));
  const folder = `${tree?.root ?? mounts.v2?.root}${cluster.names.cgroupRoot}/burstable/pod${pod.metadata.uid}/${id}`;
  return readFileSync(`${folder}/${tree === undefined ? v2 : v1}`, 'utf8');
}

function ownWorkingSet(): number {
  const usage = Number(ownFile('memory', 'memory.usage_in_bytes', 'memory.current'));
  const stat = ownFile('memory', 'memory.stat', 'memory.stat');
  const inactive = /^total_inactive_file (\d+)$/m.exec(stat)?.[1] ?? /^inactive_file (\d+)$/m.exec(stat)?.[1];
  return usage - Number(inactive);
}

function ownCpuNanos(): number {
  const text = ownFile('cpuacct', 'cpuacct.usage', 'cpu.stat');
  return text.startsWith('usage_usec') ? Number(/^usage_usec (\d+)/.exec(text)?.[1]) * 1000 : Number(text);
}

function assertNear(actual: number | undefined, expected: number, by: number, what: string): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= by, `${what}: ${actual} is not near ${expected}`);
}

test('the summary has the figures of the container’s own cgroup and of its volumes', async () => {
  const { node, found, container } = await busyIn('/stats/summary');
  assertNear(container.memory.workingSetBytes, ownWorkingSet(), 2 * mebibyte, 'working set');
  assert.ok(container.memory.workingSetBytes > 20 * mebibyte, 'what the container holds in memory counts');
  assert.equal((container.memory.availableBytes ?? 0) + container.memory.workingSetBytes, 64 * mebibyte);
  assertNear(container.cpu.usageCoreNanoSeconds, ownCpuNanos(), 50_000_000, 'CPU time');
  const scratch = found.volume?.find(({ name }) => name === 'scratch');
  assertNear(scratch?.usedBytes, 3 * mebibyte, mebibyte / 2, 'a file with two names counts once');
  assert.equal(scratch?.inodesUsed, 2);
  assert.deepEqual([found.network?.name, node.nodeName], ['eth0', nodeName]);
  assert.ok((found.process_stats?.process_count ?? 0) >= 2, 'the pause process and the shell');
  assert.ok(node.memory.workingSetBytes > container.memory.workingSetBytes);
  assert.ok((node.fs?.capacityBytes ?? 0) > (node.fs?.availableBytes ?? 0));
});

test('the short summary has CPU and memory alone', async () => {
  const { node, found, container } = await busyIn('/stats/summary?only_cpu_and_memory=true');
  assertNear(container.memory.workingSetBytes, ownWorkingSet(), 2 * mebibyte, 'working set');
  assert.deepEqual([node.fs, found.volume, found.network, container.rootfs], [undefined, undefined, undefined, undefined]);
});

test('a metrics server and Prometheus find their series', async () => {
  const value = (text: string, series: string): number => {
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    if (line === undefined) throw new Error(`${series} is missing in\n${text}`);
    return Number(line.split(' ').at(-2));
  };
  const resource = await raw('/metrics/resource');
  const labels = '{container="main",namespace="default",pod="busy"}';
  assertNear(value(resource, `container_memory_working_set_bytes${labels}`), ownWorkingSet(), 2 * mebibyte, 'working set');
  assertNear(value(resource, `container_cpu_usage_seconds_total${labels}`), ownCpuNanos() / 1e9, 0.05, 'CPU time');
  assert.ok(value(resource, 'node_cpu_usage_seconds_total') > 0);
  assert.match(resource, /^resource_scrape_error 0$/m);

  const cadvisor = await raw('/metrics/cadvisor');
  const series = (name: string) => new RegExp(`^${name}\\{container="main",[^}]*namespace="default",pod="busy"[^}]*\\} (\\S+) \\d+$`, 'm');
  assertNear(Number(series('container_memory_working_set_bytes').exec(cadvisor)?.[1]), ownWorkingSet(), 2 * mebibyte, 'working set');
  assertNear(Number(series('container_spec_memory_limit_bytes').exec(cadvisor)?.[1]), 64 * mebibyte, 0, 'limit');
  assert.match(cadvisor, /^container_network_receive_bytes_total\{container="",[^}]*pod="busy",interface="eth0"\} [1-9]\d* \d+$/m);
  assert.match(cadvisor, /^machine_memory_bytes\{[^}]*\} [1-9]/m);
});

test('whoever has no name or no right does not come in, and rights are those of the API', async () => {
  const rules = { kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reads-figures' } };
  await apply(kubectl, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'reader' } });
  const token = outputOf(await kubectl('create token reader')).trim();
  assert.deepEqual(pick(await ask('/stats/summary')), [401, 'Unauthorized']);
  assert.deepEqual(pick(await ask('/healthz', 'no-token')), [401, 'Unauthorized']);
  const forbidden = (subresources: string, verb = 'get') => [
    403,
    `Forbidden (user=${account}, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])\n`,
  ];
  assert.deepEqual(pick(await ask('/stats/summary', token)), forbidden('stats'));
  assert.deepEqual(pick(await ask('/pods', token)), forbidden('pods proxy'));
  assert.deepEqual(pick(await ask('/run/default/busy/main?cmd=true', token, 'POST')), forbidden('proxy', 'create'));

  const may = (...resources: readonly string[]) => ({ ...rules, rules: [{ apiGroups: [''], resources, verbs: ['get', 'create'] }] });
  const binding = {
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: 'reads-figures' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads-figures' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
  };
  await apply(kubectl, may('nodes/metrics', 'nodes/proxy'), binding);
  assert.equal((await ask('/metrics/resource', token)).status, 200);
  assert.equal((await ask('/configz', token)).status, 200, 'proxy stands for what is finer');
  assert.deepEqual(pick(await ask('/run/default/busy/main?cmd=echo%20hello', token, 'POST')), [200, 'hello\n']);
  assert.equal((await ask('/stats/summary', token)).status, 403, 'but not for figures');
});

function pick({ status, text }: Answer): readonly [number, string] {
  return [status, text];
}

test('pages tell what the kubelet knows', async () => {
  const pods: { readonly items: readonly Pod[] } = JSON.parse(await raw('/pods'));
  assert.equal(pods.items.find(({ metadata }) => metadata.name === 'busy')?.status?.phase, 'Running');
  const running: { readonly items: readonly Pod[] } = JSON.parse(await raw('/runningpods/'));
  assert.deepEqual(
    running.items.find(({ metadata }) => metadata.name === 'busy')?.spec?.containers.map(({ name }) => name),
    ['main'],
  );
  const { kubeletconfig } = JSON.parse(await raw('/configz'));
  assert.deepEqual([kubeletconfig.volumeStatsAggPeriod, kubeletconfig.authentication.anonymous.enabled], ['1s', false]);
  assert.equal(await raw('/healthz'), 'ok');
  assert.equal(await raw('/healthz?verbose'), '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n');
  assert.match(await raw('/logs/'), /<pre>\n(<a href="[^"]*">[^<]*<\/a>\n)*<\/pre>/);
  assert.match((await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/debug/pprof/`])).stderr, /MethodNotAllowed|not allow|disabled/i);
});

test('kubectl logs: the last lines, since a time, with times, and no more than so many bytes', async () => {
  assert.equal(outputOf(await kubectl('logs busy')), 'line 1\nline 2\nline 3\nready\n');
  assert.equal(outputOf(await kubectl('logs busy --tail=2')), 'line 3\nready\n');
  assert.equal(outputOf(await kubectl('logs busy --tail=0')), '');
  assert.equal(outputOf(await kubectl('logs busy --limit-bytes=9')), 'line 1\nli');
  const timed = outputOf(await kubectl('logs busy --timestamps'))
    .trim()
    .split('\n');
  const [first = '', , third = ''] = timed.map((line) => line.split(' ')[0] ?? '');
  assert.match(first, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d)$/);
  assert.ok(outputOf(await kubectl(['logs', 'busy', `--since-time=${third}`])).includes('ready'));
  assert.equal(outputOf(await kubectl('logs busy --since=1h')), 'line 1\nline 2\nline 3\nready\n');
  assert.match((await kubectl('logs busy --previous')).stderr, /previous terminated container "main" in pod "busy" not found/);
  assert.match((await kubectl('logs busy -c other')).stderr, /container other is not valid for pod busy/);
});

test('subtle 55: logs of a container that waits for its next start are those of the last one that ended', async () => {
  await apply(kubectl, sleeper('crashes', {}, { command: ['sh', '-c', 'echo last words; exit 1'] }));
  await waitForField(kubectl, 'crashes', '{.status.containerStatuses[0].state.waiting.reason}', 'CrashLoopBackOff');
  assert.equal(outputOf(await kubectl('logs crashes')), 'last words\n');
  assert.equal(outputOf(await kubectl('logs crashes --previous')), 'last words\n');
});

test('subtle 56: a line in three pieces is one line, and the last line of the file is only its last piece', async () => {
  const pieces = 2 * 16_384 + 100; // the runtime parts lines at 16 KiB
  const script = `head -c ${pieces} /dev/zero | tr '\\0' x; echo`;
  await apply(kubectl, sleeper('talks', { restartPolicy: 'Never' }, { command: ['sh', '-c', script] }));
  await waitForField(kubectl, 'talks', '{.status.phase}', 'Succeeded');
  const whole = outputOf(await kubectl('logs talks'));
  assert.equal(whole, `${'x'.repeat(pieces)}\n`);
  const last = outputOf(await kubectl('logs talks --tail=1'));
  assert.ok(last.length < pieces && /^x+\n$/.test(last), `${last.length} characters`);
  assert.match(outputOf(await kubectl('logs talks --timestamps')), /^\S+ x+\n$/, 'one time for the whole line');
});

test('what is written to a container’s own layer is told, when the runtime has looked at it', async () => {
  const deadline = Date.now() + 30_000;
  let used: number | undefined;
  while ((used ?? 0) < 6 * mebibyte && Date.now() < deadline) used = (await busyIn('/stats/summary')).container.rootfs?.usedBytes;
  assertNear(used, 6 * mebibyte, mebibyte, 'writable layer');
  const { found, container, node } = await busyIn('/stats/summary');
  const parts = (container.rootfs?.usedBytes ?? 0) + (container.logs?.usedBytes ?? 0) + 3 * mebibyte;
  assertNear(found['ephemeral-storage']?.usedBytes, parts, mebibyte / 2, 'layer, logs and volumes together');
  assert.ok((node.runtime?.imageFs.usedBytes ?? 0) > mebibyte, 'images are on a file system');
});
