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
