import assert from 'node:assert/strict';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster({ upFlags: ['--timing', 'podRetryMs=500'] });
const { kubectl } = cluster;
const nodeName = outputOf(await kubectl('get nodes -o name'))
  .trim()
  .replace('node/', '');

test('a pod that is bound to a node without room for it fails with OutOfcpu', async () => {
  await apply(kubectl, sleeper('greedy', { nodeName }, { resources: { requests: { cpu: '1000' } } }));
  await waitForField(kubectl, 'greedy', '{.status.phase}', 'Failed');
  const { status } = await getPod(kubectl, 'greedy');
  assert.equal(status?.reason, 'OutOfcpu');
  assert.match(status?.message ?? '', /^Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: \d+, capacity: \d+$/);
  const why = await cluster.kubernode('why', 'greedy');
  assert.match(why.stdout, /^pod default\/greedy has Failed: OutOfcpu: /);
});

test('a pod that fits no node stays Pending, and why shows the scheduler’s message', async () => {
  await apply(kubectl, sleeper('too-big', {}, { resources: { requests: { cpu: '1000' } } }));
  await waitForPod(kubectl, 'too-big', 'PodScheduled=false');
  const why = await cluster.kubernode('why', 'too-big');
  assert.match(why.stdout, /waits in the scheduler since .*: Unschedulable: 0\/1 nodes are available: 1 Insufficient cpu\./);
  const events = outputOf(
    await kubectl('get events --field-selector involvedObject.name=too-big,reason=FailedScheduling -o jsonpath={.items[*].message}'),
  );
  assert.match(events, /0\/1 nodes are available: 1 Insufficient cpu\./);
});

test('a missing ConfigMap holds the pod, which starts by itself when it appears', async () => {
  const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
  await apply(kubectl, sleeper('holder', { volumes }, { volumeMounts: [{ name: 'settings', mountPath: '/settings' }] }));
  await waitForWords(
    'holder',
    /waits in step volumes .*: FailedMount: MountVolume.SetUp failed for volume "settings" : configmap "settings" not found/,
  );
  const { status } = await getPod(kubectl, 'holder');
  assert.equal(status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
  await apply(kubectl, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'blue' } });
  await waitForPod(kubectl, 'holder');
  assert.equal(outputOf(await kubectl('exec holder -- cat /settings/colour')), 'blue');
  const events = outputOf(await kubectl('get events --field-selector involvedObject.name=holder,reason=FailedMount -o jsonpath={.items[*].message}'));
  assert.match(events, /MountVolume.SetUp failed for volume "settings" : configmap "settings" not found/);
});

test('subtle 50: without a network a pod waits with NetworkNotReady and starts by itself when it is back; one on the host’s network starts', async () => {
  const folder = cluster.paths.cniConfigDir;
  const [file = ''] = await readdir(folder);
  await rename(`${folder}/${file}`, `${folder}/${file}.away`);
  outputOf(await kubectl(`wait node/${nodeName} --for=condition=Ready=false --timeout=60s`));
  const spec = { tolerations: [{ operator: 'Exists' }], nodeName };
  await apply(kubectl, sleeper('offline', spec), sleeper('grounded', { ...spec, hostNetwork: true }));
  await waitForPod(kubectl, 'grounded');
  await waitForWords('offline', /waits in step network .*: NetworkNotReady/);
  await rename(`${folder}/${file}.away`, `${folder}/${file}`);
  await waitForPod(kubectl, 'offline');
  outputOf(await kubectl(`wait node/${nodeName} --for=condition=Ready --timeout=60s`));
  const events = outputOf(
    await kubectl('get events --field-selector involvedObject.name=offline,reason=NetworkNotReady -o jsonpath={.items[*].message}'),
  );
  assert.match(events, /network is not ready: container runtime network not ready/);
});

// Upstream's conformance tests of nodes that drive pods away, told again under their names.

test('NoExecuteTaintManager: removing taint cancels eviction; evicts pods with minTolerationSeconds', async () => {
  const tolerating = (tolerationSeconds: number) => ({
    tolerations: [{ key: 'example.com/evict', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds }],
  });
  await apply(kubectl, sleeper('hasty', tolerating(1)), sleeper('slow', tolerating(3)), sleeper('spared', tolerating(60)), sleeper('driven'));
  await Promise.all(['hasty', 'slow', 'spared', 'driven'].map((name) => waitForPod(kubectl, name)));
  const { uid } = (await getPod(kubectl, 'spared')).metadata;
  outputOf(await kubectl(`taint node ${nodeName} example.com/evict=yes:NoExecute`));
  for (const name of ['driven', 'hasty', 'slow']) outputOf(await kubectl(`wait pod/${name} --for=delete --timeout=30s`));
  outputOf(await kubectl(`taint node ${nodeName} example.com/evict-`));
  assert.match(await toldOf(cluster, 'spared', 'TaintManagerEviction', (message) => message.startsWith('Cancelling')), /default\/spared$/);
  const { metadata, status } = await getPod(kubectl, 'spared');
  assert.deepEqual([metadata.uid, metadata.deletionTimestamp, status?.phase], [uid, undefined, 'Running']);
  outputOf(await kubectl('delete pod spared'));
});

test('Node Lifecycle should run through the lifecycle of a node', async () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'e2e-fake-node', labels: { e2e: 'fake' } } };
  await apply(kubectl, { ...node, status: { phase: 'Running' } });
  assert.match(outputOf(await kubectl('get node e2e-fake-node -o jsonpath={.spec.taints[*].key}')), /node.kubernetes.io\/not-ready/);
  outputOf(await kubectl('label node e2e-fake-node e2e-fake=patched'));
  outputOf(await kubectl(['patch', 'node', 'e2e-fake-node', '--subresource=status', '-p', '{"status":{"capacity":{"cpu":"3"}}}']));
  assert.equal(outputOf(await kubectl('get nodes -l e2e-fake=patched -o jsonpath={.items[*].status.capacity.cpu}')), '3');
  outputOf(await kubectl('delete nodes -l e2e=fake --timeout=20s'));
  assert.equal(outputOf(await kubectl('get nodes -l e2e=fake -o name')), '');
});

test('Pods Set QOS Class should be set on Pods with matching resource requests and limits for memory and cpu', async () => {
  const resources = { cpu: '10m', memory: '16Mi' };
  await apply(kubectl, sleeper('matching', { nodeName }, { resources: { requests: resources, limits: resources } }));
  assert.equal((await getPod(kubectl, 'matching')).status?.qosClass, 'Guaranteed');
  outputOf(await kubectl('delete pod matching --wait=false'));
});

test('subtle 17: with policy Never a first sandbox that cannot be made is tried again, until it is there', async () => {
  const folder = cluster.paths.cniConfigDir;
  const [file = ''] = await readdir(folder);
  const config = await readFile(`${folder}/${file}`, 'utf8');
  await writeFile(`${folder}/${file}`, config.replace(/"type": ?"bridge"/, '"type": "no-such-plugin"'));
  await apply(kubectl, sleeper('patient', { restartPolicy: 'Never', tolerations: [{ operator: 'Exists' }], nodeName }));
  const words = await toldOf(cluster, 'patient', 'FailedCreatePodSandBox');
  assert.match(words, /^Failed to create pod sandbox: .*no-such-plugin/);
  const { status } = await getPod(kubectl, 'patient');
  assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.state?.waiting?.reason], ['Pending', 'ContainerCreating']);
  await writeFile(`${folder}/${file}`, config);
  await waitForPod(kubectl, 'patient');
});

/** Asks `why` until it says so; the record arrives with the node's next batch, a second later at most. */
async function waitForWords(pod: string, words: RegExp): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const { stdout, stderr } = await cluster.kubernode('why', pod);
    if (words.test(stdout)) return;
    assert.ok(performance.now() < deadline, `why ${pod} does not say ${words}: ${stdout}${stderr}`);
  }
}
