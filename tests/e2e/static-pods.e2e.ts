import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { outputOf } from '../support/kubectl.ts';
import { busybox, getPod, waitForPod } from '../support/pods.ts';
import { podInRuntime } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';

const folder = await mkdtemp(join(tmpdir(), 'kubernode-manifests-'));
const witness = await mkdtemp(join(tmpdir(), 'kubernode-witness-'));
let served = '';
const web = createServer((request, response) => response.writeHead(request.headers['x-who'] === 'kubelet' ? 200 : 403).end(served));
await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
after(async () => {
  web.close();
  for (const path of [folder, witness]) await rm(path, { recursive: true, force: true });
});

const cluster = await startCluster({
  kubelet: {
    staticPodPath: folder,
    staticPodURL: `http://127.0.0.1:${(web.address() as AddressInfo).port}/pods`,
    staticPodURLHeader: { 'x-who': ['kubelet'] },
    httpCheckFrequency: '300ms',
  },
  upFlags: ['--timing', 'housekeepingMs=500,partPauseMaxMs=1'],
});
const { kubectl } = cluster;
const node = (JSON.parse(outputOf(await kubectl('get nodes -o json'))) as { readonly items: readonly [Node] }).items[0];
const nameOf = (name: string) => `${name}-${node.metadata.name}`;

/** It says on the host when it begins, and when it is told to end it takes its time and says so too. */
function manifest(name: string, version: string, more: object = {}): string {
  const script = `echo ${version} began >> /witness/${name}; trap "sleep 0.5; echo ${version} ended >> /witness/${name}; exit 0" TERM; sleep 100000 & wait`;
  const volumeMounts = [{ name: 'witness', mountPath: '/witness' }];
  const main = { name: 'main', image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', script], volumeMounts };
  const spec = { terminationGracePeriodSeconds: 10, containers: [main], volumes: [{ name: 'witness', hostPath: { path: witness } }], ...more };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec });
}

const said = async (name: string) => (await readFile(`${witness}/${name}`, 'utf8').catch(() => '')).trim().split('\n');

async function until(what: string, isSo: () => Promise<boolean>, seconds = 30): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not within ${seconds} s: ${what}`);
    await sleep(30);
  }
}

const appears = (name: string) => until(`pod ${name}`, async () => (await kubectl(`get pod ${name}`)).code === 0);
const containerOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.containerID;
const pidOf = async (part: string) => (JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { readonly pid: number }).pid;

test('a manifest that is put into the folder runs, and its mirror tells of it', async () => {
  await writeFile(`${folder}/web.yaml`, `# comments and all\n${manifest('web', 'one')}\n`);
  await appears(nameOf('web'));
  await waitForPod(kubectl, nameOf('web'));
  const { metadata, spec, status } = await getPod(kubectl, nameOf('web'));
  const { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.seen': seen, ...annotations } = metadata.annotations ?? {};
  assert.deepEqual(annotations, { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.mirror': hash });
  assert.match(hash ?? '', /^[0-9a-f]{32}$/);
  assert.ok(Date.parse(seen ?? '') > 0);
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name, uid: node.metadata.uid, controller: true };
  assert.deepEqual(metadata.ownerReferences, [owner]);
  assert.ok(spec?.tolerations?.some(({ operator, effect }) => operator === 'Exists' && effect === 'NoExecute'));
  assert.deepEqual([status?.phase, spec?.nodeName], ['Running', node.metadata.name]);
  assert.equal(outputOf(await kubectl(['exec', nameOf('web'), '--', 'echo', 'alive'])), 'alive\n');
  assert.equal((await kubectl(`logs ${nameOf('web')}`)).code, 0);
  assert.match(outputOf(await kubectl(`describe pod ${nameOf('web')}`)), /Started +\S+ +kubelet/);
});

test('subtle 57: given a static pod, when its manifest is edited, then the old one is taken down whole before the new one starts', async () => {
  const before = await getPod(kubectl, nameOf('web'));
  await writeFile(`${folder}/.web.tmp`, manifest('web', 'two')); // hidden: not read
  await rename(`${folder}/.web.tmp`, `${folder}/web.yaml`);
  await until('the second version begins', async () => (await said('web')).length === 3);
  assert.deepEqual(await said('web'), ['one began', 'one ended', 'two began']);
  await until('another mirror', async () => (await getPod(kubectl, nameOf('web')).catch(() => before)).metadata.uid !== before.metadata.uid);
  await waitForPod(kubectl, nameOf('web'));
  const hash = before.metadata.annotations?.['kubernetes.io/config.hash'] ?? '';
  assert.notEqual((await getPod(kubectl, nameOf('web'))).metadata.annotations?.['kubernetes.io/config.mirror'], hash);
  assert.deepEqual((await podInRuntime(cluster, hash)).sandboxes, []);
});

test('subtle 58: given a static pod, when somebody deletes its mirror, then the pod goes on and gets another mirror', async () => {
  const before = await getPod(kubectl, nameOf('web'));
  // kubectl's own wait may begin when the next mirror is there already, and would wait for the end of that.
  outputOf(await kubectl(`delete pod ${nameOf('web')} --wait=false`));
  await until('another mirror', async () => (await getPod(kubectl, nameOf('web')).catch(() => before)).metadata.uid !== before.metadata.uid);
  await waitForPod(kubectl, nameOf('web'));
  const now = await getPod(kubectl, nameOf('web'));
  assert.notEqual(now.metadata.uid, before.metadata.uid);
  assert.equal(containerOf(now), containerOf(before));
  assert.deepEqual(await said('web'), ['one began', 'one ended', 'two began']);
});

test('a manifest that names objects of the API is refused, one that cannot be read is passed over, and the others run', async () => {
  await writeFile(`${folder}/a-secret.json`, manifest('secretive', 'x', { serviceAccountName: 'default' }));
  await writeFile(`${folder}/b-broken.yaml`, '{ not: [a pod');
  await writeFile(`${folder}/c-fine.yaml`, manifest('fine', 'one'));
  await appears(nameOf('fine'));
  await waitForPod(kubectl, nameOf('fine'));
  assert.notEqual((await kubectl(`get pod ${nameOf('secretive')}`)).code, 0);
  const log = await readFile(`${cluster.paths.partLogs}/kubelet.log`, 'utf8');
  assert.match(log, /static pods may not reference serviceaccounts/);
  for (const file of ['a-secret.json', 'b-broken.yaml']) await rm(`${folder}/${file}`);
});

test('pods of a URL come and go with what the server answers', async () => {
  const list = { apiVersion: 'v1', kind: 'PodList', items: ['north', 'south'].map((name) => JSON.parse(manifest(name, 'one')) as unknown) };
  served = JSON.stringify(list);
  for (const name of ['north', 'south']) await appears(nameOf(name));
  await waitForPod(kubectl, nameOf('north'));
  assert.equal((await getPod(kubectl, nameOf('north'))).metadata.annotations?.['kubernetes.io/config.source'], 'http');
  served = manifest('south', 'one');
  outputOf(await kubectl(`wait pod/${nameOf('north')} --for=delete --timeout=30s`));
  assert.deepEqual(await said('north'), ['one began', 'one ended']);
  served = '';
  outputOf(await kubectl(`wait pod/${nameOf('south')} --for=delete --timeout=30s`));
});

test('subtle 59: given no API server, a manifest runs and what is unknown is left alone; when all sources are there, it is taken down', async () => {
  const unknown = await getPod(kubectl, nameOf('fine'));
  const [controlPlane, kubelet] = await Promise.all([pidOf('control-plane'), pidOf('kubelet')]);
  process.kill(controlPlane, 'SIGSTOP'); // it answers nobody
  try {
    process.kill(kubelet, 'SIGKILL');
    await rm(`${folder}/c-fine.yaml`);
    await writeFile(`${folder}/lonely.yaml`, manifest('lonely', 'one'));
    await until('the pod runs without an API server', async () => (await said('lonely'))[0] === 'one began');
    const hash = unknown.metadata.annotations?.['kubernetes.io/config.hash'] ?? '';
    assert.deepEqual(
      (await podInRuntime(cluster, hash)).sandboxes.map(({ ready }) => ready),
      [true],
    );
    assert.deepEqual(await said('fine'), ['one began']);
  } finally {
    process.kill(controlPlane, 'SIGCONT');
  }
  await appears(nameOf('lonely'));
  await waitForPod(kubectl, nameOf('lonely'));
  outputOf(await kubectl(`wait pod/${nameOf('fine')} --for=delete --timeout=30s`));
  await until(
    'what is unknown is gone',
    async () => (await podInRuntime(cluster, unknown.metadata.annotations?.['kubernetes.io/config.hash'] ?? '')).sandboxes.length === 0,
  );
  assert.equal((await said('web')).at(-1), 'two began', 'the others went on');
});

test('a manifest that is removed takes its pod and its mirror with it, with the grace that it asks for', async () => {
  for (const name of ['web', 'lonely']) await rm(`${folder}/${name}.yaml`);
  for (const name of ['web', 'lonely']) outputOf(await kubectl(`wait pod/${nameOf(name)} --for=delete --timeout=30s`));
  assert.deepEqual((await said('web')).at(-1), 'two ended');
  assert.deepEqual(await said('lonely'), ['one began', 'one ended']);
});
