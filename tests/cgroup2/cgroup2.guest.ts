import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Container, Pod, PodSpec } from '#api/types/core-v1.ts';
import { createCluster, type TestCluster } from '#testing/create-cluster.ts';

// On a kernel that has cgroup v2 alone: what the limits of a pod come to, as the kernel and the container itself see it.

const root = '/sys/fs/cgroup';
/** The processor may be emulated. */
const patienceMs = 240_000;
let cluster: TestCluster;

before(async () => {
  const program = [process.execPath, process.env.KUBERNODE_PROGRAM_FILE ?? ''];
  cluster = await createCluster({ program, timeoutMs: patienceMs, upFlags: ['--timing', 'crashBackoffBaseMs=100'] });
});
after(async () => {
  await cluster.dispose();
  const left = await cluster.kubernode('audit');
  assert.equal(left.code, 0, `left after down:\n${left.stdout}${left.stderr}`);
});

const own = (...files: readonly string[]) => [
  'sh',
  '-c',
  `cd /sys/fs/cgroup; for f in ${files.join(' ')}; do echo "$f=$(cat $f)"; done > /dev/termination-log; trap "exit 0" TERM; sleep 100000 & wait`,
];

async function start(name: string, container: Partial<Container>, spec: Partial<PodSpec> = {}, of = cluster): Promise<Pod> {
  const main = { name: 'main', image: 'docker.io/library/busybox:latest', imagePullPolicy: 'IfNotPresent', ...container };
  return await of.client.create(
    podKind,
    { metadata: { name, namespace: 'default' }, spec: { terminationGracePeriodSeconds: 1, containers: [main], ...spec } },
    AbortSignal.timeout(patienceMs),
  );
}

async function seen(name: string, accept: (pod: Pod) => boolean, of = cluster): Promise<Pod> {
  const signal = AbortSignal.timeout(patienceMs);
  const options = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  for await (const event of of.client.watch(podKind, options, signal)) if (event.type !== 'BOOKMARK' && accept(event.object)) return event.object;
  throw new Error(`the watch of ${name} has ended`);
}

const isRunning = (pod: Pod) => pod.status?.phase === 'Running';

async function deleted({ metadata }: Pod, of = cluster): Promise<void> {
  const gone = (async () => {
    const signal = AbortSignal.timeout(patienceMs);
    const options = { namespace: 'default', fieldSelector: `metadata.name=${metadata.name}`, resourceVersion: metadata.resourceVersion };
    for await (const event of of.client.watch(podKind, options, signal)) if (event.type === 'DELETED') return;
  })();
  await of.client.delete(podKind, metadata, {}, AbortSignal.timeout(patienceMs));
  await gone;
}

/** The pod's cgroup, wherever it is below the cluster's. */
async function cgroupOf(pod: Pod): Promise<string> {
  const all = await readdir(`${root}${cluster.names.cgroupRoot}`, { recursive: true });
  const found = all.find((path) => path.endsWith(`pod${pod.metadata.uid}`));
  assert.ok(found !== undefined, `no cgroup of ${pod.metadata.name} among ${all.join(' ')}`);
  return join(root, cluster.names.cgroupRoot, found);
}

async function valuesOf(folder: string, ...files: readonly string[]): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, (await readFile(join(folder, file), 'utf8')).trim()] as const)));
}

test('the machine has cgroup v2 alone', async () => {
  assert.ok(existsSync(`${root}/cgroup.controllers`));
  assert.doesNotMatch(await readFile('/proc/self/mounts', 'utf8'), / cgroup /);
});

test('a Guaranteed pod has its limits in its own cgroup and in its container', async () => {
  const resources = { limits: { cpu: '500m', memory: '64Mi' } };
  await start('guaranteed', { command: own('cpu.max', 'memory.max'), resources });
  const pod = await seen('guaranteed', isRunning);
  const folder = await cgroupOf(pod);
  assert.deepEqual(await valuesOf(folder, 'cpu.max', 'memory.max'), { 'cpu.max': '50000 100000', 'memory.max': String(64 * 1024 * 1024) });
  const children = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const limits = await Promise.all(children.map(({ name }) => valuesOf(join(folder, name), 'cpu.max', 'memory.max')));
  assert.ok(
    limits.some((one) => one['cpu.max'] === '50000 100000' && one['memory.max'] === String(64 * 1024 * 1024)),
    JSON.stringify(limits),
  );
});

test('the classes of service have their places and their weights', async () => {
  await start('burstable', { command: own('cpu.weight'), resources: { requests: { cpu: '200m', memory: '32Mi' } } });
  await start('best-effort', { command: own('cpu.weight') });
  const [burstable, bestEffort] = await Promise.all(['burstable', 'best-effort'].map((name) => seen(name, isRunning)));
  assert.ok(burstable !== undefined && bestEffort !== undefined);
  assert.match(await cgroupOf(burstable), /\/burstable\/pod/);
  assert.match(await cgroupOf(bestEffort), /\/besteffort\/pod/);
  const weight = async (pod: Pod) => Number((await valuesOf(await cgroupOf(pod), 'cpu.weight'))['cpu.weight']);
  assert.equal(await weight(bestEffort), 1);
  assert.ok((await weight(burstable)) > 1);
});

test('a container beyond its memory limit is ended as a whole, told as OOMKilled, and started again', async () => {
  const command = ['sh', '-c', 'sleep 1000 & exec tail /dev/zero'];
  await start('greedy', { command, resources: { limits: { memory: '32Mi' } } });
  const pod = await seen('greedy', (one) => (one.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
  const last = pod.status?.containerStatuses?.[0]?.lastState?.terminated;
  assert.deepEqual([last?.reason, last?.exitCode], ['OOMKilled', 137]);
});

test('a deleted pod leaves no cgroup', async () => {
  await start('short', { command: own('cpu.max') });
  const pod = await seen('short', isRunning);
  const folder = await cgroupOf(pod);
  await deleted(pod);
  await assert.rejects(stat(folder), { code: 'ENOENT' });
  const audit = await cluster.kubernode('audit');
  assert.equal(audit.code, 0, audit.stdout);
});

test('with systemd the slices of pods are its units, with limits that it does not take back', async () => {
  await startSystemd();
  const program = [process.execPath, process.env.KUBERNODE_PROGRAM_FILE ?? ''];
  const kubelet = { cgroupDriver: 'systemd' };
  const sliced = await createCluster({ program, timeoutMs: patienceMs, kubelet, name: 'with-systemd' });
  try {
    const resources = { limits: { cpu: '500m', memory: '64Mi' } };
    await start('sliced', { command: own('cpu.max', 'memory.max'), resources }, {}, sliced);
    const pod = await seen('sliced', isRunning, sliced);
    const unit = `kubernode-with_systemd-pod${pod.metadata.uid.replaceAll('-', '_')}.slice`;
    const folder = `${root}/kubernode.slice/kubernode-with_systemd.slice/${unit}`;
    const limits = { 'cpu.max': '50000 100000', 'memory.max': String(64 * 1024 * 1024) };
    assert.deepEqual(await valuesOf(folder, 'cpu.max', 'memory.max'), limits);
    systemctl('daemon-reload'); // it writes everything anew that it knows of
    assert.deepEqual(await valuesOf(folder, 'cpu.max', 'memory.max'), limits);
    assert.equal(systemctl('show', unit, '-p', 'MemoryMax,ActiveState'), `MemoryMax=${64 * 1024 * 1024}\nActiveState=active`);
    const running = await sliced.kubernode('audit');
    assert.equal(running.code, 0, running.stdout);
    await deleted(pod, sliced);
    await assert.rejects(stat(folder), { code: 'ENOENT' });
    assert.equal(systemctl('show', unit, '-p', 'ActiveState'), 'ActiveState=inactive');
  } finally {
    await sliced.dispose();
  }
  await assert.rejects(stat(`${root}/kubernode.slice`), { code: 'ENOENT' });
  const left = await sliced.kubernode('audit');
  assert.equal(left.code, 0, `left after down:\n${left.stdout}${left.stderr}`);
});

/** A manager of units over the whole tree, as on a host that it has booted: it moves all processes into a group of its own. */
async function startSystemd(): Promise<void> {
  const runtimeDir = '/run/user/0';
  for (const folder of [runtimeDir, '/run/systemd/system']) await mkdir(folder, { recursive: true });
  const systemd = spawn('/lib/systemd/systemd', ['--user', '--log-target=console'], {
    stdio: 'inherit',
    env: { ...process.env, XDG_RUNTIME_DIR: runtimeDir },
  });
  after(() => systemd.kill('SIGKILL'));
  await symlink(`${runtimeDir}/systemd/private`, '/run/systemd/private');
  const deadline = Date.now() + patienceMs;
  while (!existsSync('/run/systemd/private')) {
    assert.ok(Date.now() < deadline, 'systemd does not come up');
    await sleep(100);
  }
}

function systemctl(...words: readonly string[]): string {
  const env = { ...process.env, XDG_RUNTIME_DIR: '/run/user/0' };
  return execFileSync('systemctl', ['--user', '--no-pager', ...words], { encoding: 'utf8', env }).trim();
}
