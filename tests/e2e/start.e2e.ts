import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outputOf } from '../support/kubectl.ts';
import { getPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const hello = fileURLToPath(new URL('../../examples/hello.yaml', import.meta.url));

test('run applies a file, shows the steps, and ends when the pod answers', async () => {
  const result = await cluster.kubernode('run', '-f', hello);
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stdout, /^pod default\/hello is Ready$/m);
  for (const step of ['admit', 'network', 'cgroups', 'directories', 'volumes', 'sandbox', 'cni', 'containers', 'RunPodSandbox', 'StartContainer']) {
    assert.match(result.stdout, new RegExp(`^ .* ${step}$`, 'm'), `the timeline names ${step}`);
  }
});

test('the pod has an address that answers HTTP', async () => {
  const pod = await getPod(cluster.kubectl, 'hello');
  assert.equal(pod.status?.phase, 'Running');
  const answer = await fetch(`http://${pod.status?.podIP}:8080/`);
  assert.equal(await answer.text(), 'Hello from hello\n');
});

test('the node is Ready and the pod is listed with its address and node', async () => {
  assert.match(outputOf(await cluster.kubectl('get nodes')), /^\S+ +Ready /m);
  const pod = await getPod(cluster.kubectl, 'hello');
  const row = outputOf(await cluster.kubectl('get pod hello -o wide --no-headers'))
    .trim()
    .split(/ +/);
  assert.deepEqual(row.slice(0, 4), ['hello', '1/1', 'Running', '0']);
  assert.deepEqual(row.slice(5, 7), [pod.status?.podIP, pod.spec?.nodeName]);
});

test('startup and why speak of the pod', async () => {
  const startup = await cluster.kubernode('startup', 'hello', '-o', 'json');
  const record = JSON.parse(startup.stdout) as { steps: { name: string; phase: string }[]; milestones: Record<string, number> };
  assert.ok(
    record.steps.every((step) => step.phase === 'done'),
    startup.stdout,
  );
  const { stored = 0, assigned = 0, seenByKubelet = 0, running = 0, firstReady = 0 } = record.milestones;
  assert.ok(stored > 0 && stored <= assigned && assigned <= seenByKubelet && seenByKubelet <= running && running <= firstReady, startup.stdout);
  assert.equal((await cluster.kubernode('why', 'hello')).stdout, 'pod default/hello is Running and Ready\n');
  assert.equal((await cluster.kubernode('why')).stdout, 'every pod is Ready or has Succeeded\n');
});

test('a pod that is not there is a clear error with exit code 1', async () => {
  const result = await cluster.kubernode('why', 'nobody');
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^error: pods "nobody" not found/);
});

test('wrong words are exit code 2', async () => {
  const result = await cluster.kubernode('run');
  assert.equal(result.code, 2);
  assert.match(result.stderr, /^error: run takes one file, give it as `-f FILE`\n$/);
});

test('a second up changes nothing', async () => {
  const before = await getPod(cluster.kubectl, 'hello');
  await cluster.up();
  const after = await getPod(cluster.kubectl, 'hello');
  assert.equal(after.status?.containerStatuses?.[0]?.containerID, before.status?.containerStatuses?.[0]?.containerID);
});
