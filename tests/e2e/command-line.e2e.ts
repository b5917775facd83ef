import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createCluster } from '#testing/create-cluster.ts';
import { kubectlOf, outputOf } from '../support/kubectl.ts';
import { apply, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const folder = await mkdtemp(join(tmpdir(), 'command-line-e2e-'));
after(() => rm(folder, { recursive: true, force: true }));

test('status tells the health of each part', async () => {
  const result = await cluster.kubernode('status', '-o', 'json');
  assert.equal(result.code, 0, result.stderr);
  const { state, parts } = JSON.parse(result.stdout) as { state: string; parts: { part: string; isHealthy: boolean }[] };
  assert.equal(state, 'running');
  assert.deepEqual(
    parts.map(({ part, isHealthy }) => `${part} ${isHealthy}`),
    ['supervisor true', 'control-plane true', 'containerd true', 'kubelet true', 'node true'],
  );
});

test('doctor looks at everything that a node needs', async () => {
  const result = await cluster.kubernode('doctor', '-o', 'json');
  assert.equal(result.code, 0, result.stdout);
  const findings = JSON.parse(result.stdout) as { check: string; result: string; mend?: string }[];
  assert.deepEqual(
    findings.filter(({ result: found }) => found === 'bad'),
    [],
  );
  assert.ok(findings.length > 5);
});

test('the admin kubeconfig is for its owner alone', async () => {
  const result = await cluster.kubernode('kubeconfig');
  assert.equal(result.stdout, `${cluster.kubeconfig}\n`);
  assert.equal((await stat(cluster.kubeconfig)).mode & 0o777, 0o600);
});

test('an image is built from files, loaded from its archive, listed, and run', async () => {
  await writeFile(join(folder, 'greeting'), 'made here\n');
  const archive = join(folder, 'image.tar');
  const built = await cluster.kubernode('image', 'build', '-t', 'greeter:1', '--busybox', '--to', archive, `${folder}/greeting=/greeting`);
  assert.equal(built.code, 0, built.stderr);
  await cluster.loadImage(archive);
  const listed = await cluster.kubernode('image', 'list');
  assert.match(listed.stdout, /^docker\.io\/library\/greeter:1 /m);
  await apply(cluster.kubectl, sleeper('greeter', {}, { image: 'greeter:1' }));
  await waitForPod(cluster.kubectl, 'greeter');
  assert.equal(outputOf(await cluster.kubectl('exec greeter -- cat /greeting')), 'made here\n');
});

test('a file that is no archive is refused', async () => {
  await writeFile(join(folder, 'nonsense.tar'), 'this is no archive');
  const result = await cluster.kubernode('image', 'load', join(folder, 'nonsense.tar'));
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^error: .*\n$/);
});

test('a manifest that is wrong is named with its place', async () => {
  const file = join(folder, 'wrong.yaml');
  await writeFile(file, 'apiVersion: v1\nkind: Pod\nmetadata: {}\n');
  const result = await cluster.kubernode('run', '-f', file);
  assert.equal(result.code, 1);
  assert.equal(result.stderr, `error: ${file}, document 1: metadata.name is missing\n`);
});

test('run tells why a pod does not start, and ends at its time-out', async () => {
  const file = join(folder, 'stuck.json');
  const volumes = [{ name: 'settings', configMap: { name: 'nowhere' } }];
  await writeFile(file, JSON.stringify(sleeper('stuck', { volumes }, { volumeMounts: [{ name: 'settings', mountPath: '/settings' }] })));
  const result = await cluster.kubernode('run', '-f', file, '--timeout', '3');
  assert.equal(result.code, 1);
  assert.match(result.stderr, /waits in step volumes .*FailedMount: MountVolume\.SetUp failed for volume "settings" : configmap "nowhere" not found/);
  assert.match(result.stderr, /error: the start of pod default\/stuck took longer than 3000 ms/);
});

test('the control plane alone serves kubectl without a node', async () => {
  await using alone = await createCluster({ nodes: 0 });
  const kubectl = kubectlOf(alone.kubeconfig);
  await apply(kubectl, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'blue' } });
  assert.equal(outputOf(await kubectl('get configmap settings -o jsonpath={.data.colour}')), 'blue');
  assert.equal(outputOf(await kubectl('get nodes')), '');
});

test('an unknown command is exit code 2 and names those that exist', async () => {
  const result = await cluster.kubernode('fly');
  assert.equal(result.code, 2);
  assert.match(result.stderr, /^error: there is no command "fly", one of: up, down, /);
});
