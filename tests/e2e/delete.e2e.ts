import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { mainProcessOf } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';
import { startWitness, until } from '../support/witness.ts';

const cluster = await startCluster({ upFlags: ['--timing', 'podRetryMs=300'] });
const { kubectl } = cluster;
const witness = await startWitness(cluster);
const hasCgroup = (uid: string) =>
  ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].some((root) => existsSync(`${root}${cluster.names.cgroupRoot}/besteffort/pod${uid}`));
const podFolders = () => readdirSync(`${cluster.paths.kubeletRoot}/pods`);

test('subtle 39, 41: the object goes after containers, volumes, folders and cgroup, and its last phase says how the containers ended', async () => {
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
  ];
  const volumeMounts = [
    { name: 'disk', mountPath: '/disk' },
    { name: 'memory', mountPath: '/memory' },
  ];
  const command = ['sh', '-c', 'trap "exit 7" TERM; sleep 100000 & wait'];
  const held = (name: string) => ({ metadata: { name, finalizers: ['kubernode.test/held'] } }); // keeps the object, and nothing else
  await apply(
    kubectl,
    { ...sleeper('leaver', { volumes }, { volumeMounts }), ...held('leaver') },
    { ...sleeper('loser', { volumes }, { volumeMounts, command }), ...held('loser') },
  );
  for (const [name, phase] of [
    ['leaver', 'Succeeded'],
    ['loser', 'Failed'],
  ] as const) {
    await waitForPod(kubectl, name);
    const { uid } = (await getPod(kubectl, name)).metadata;
    assert.ok(podFolders().includes(uid));
    assert.match(await readFile('/proc/self/mountinfo', 'utf8'), new RegExp(uid));
    assert.ok(hasCgroup(uid));
    outputOf(await kubectl(`delete pod ${name} --wait=false`));
    await waitForField(kubectl, name, '{.metadata.deletionGracePeriodSeconds}', '0'); // the kubelet lets go of it
    assert.ok(!podFolders().includes(uid), 'the pod’s folder');
    assert.doesNotMatch(await readFile('/proc/self/mountinfo', 'utf8'), new RegExp(uid), 'its mounts');
    assert.ok(!hasCgroup(uid), 'its cgroup');
    assert.equal((await getPod(kubectl, name)).status?.phase, phase);
    outputOf(await kubectl(['patch', 'pod', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']));
    outputOf(await kubectl(`wait pod/${name} --for=delete --timeout=20s`));
  }
});

test('subtle 40: while a volume cannot be unmounted the pod stays, and its cgroup too', async () => {
  const volumes = [{ name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }];
  await apply(kubectl, sleeper('stuck', { volumes }, { volumeMounts: [{ name: 'memory', mountPath: '/memory' }] }));
  await waitForPod(kubectl, 'stuck');
  const { uid } = (await getPod(kubectl, 'stuck')).metadata;
  const mount = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .find((line) => line.includes(`${uid}/volumes/kubernetes.io~empty-dir/memory`));
  const holder = spawn('sleep', ['600'], { cwd: mount?.split(' ')[4] ?? assert.fail('the volume is not mounted') });
  try {
    outputOf(await kubectl('delete pod stuck --wait=false'));
    await waitForField(kubectl, 'stuck', '{.status.phase}', 'Succeeded');
    const refusals = async () => (await readFile(`${cluster.paths.partLogs}/kubelet.log`, 'utf8')).match(/default\/stuck.*EBUSY/g)?.length ?? 0;
    await until('the volume is tried again', async () => (await refusals()) >= 2);
    assert.notEqual((await getPod(kubectl, 'stuck')).metadata.deletionTimestamp, undefined);
    assert.ok(podFolders().includes(uid) && hasCgroup(uid));
  } finally {
    holder.kill();
  }
  outputOf(await kubectl('wait pod/stuck --for=delete --timeout=20s'));
  assert.ok(!podFolders().includes(uid) && !hasCgroup(uid));
});

test('subtle 35, 38: a hook that takes the whole grace leaves its program two seconds; sidecars end after the apps, their hooks run at once', async () => {
  const hook = (script: string) => ({ lifecycle: { preStop: { exec: { command: ['sh', '-c', script] } } } });
  const onTerm = (script: string) => `trap '${script}' TERM; sleep 100000 & wait`;
  const side = witness.container('ordered', 'side', onTerm('echo side-term >> $W; exit 0'), {
    restartPolicy: 'Always',
    ...hook('echo side-hook >> $W'),
  });
  await apply(
    kubectl,
    witness.pod(
      'late',
      { terminationGracePeriodSeconds: 2 },
      onTerm('echo term >> $W; sleep 1; echo end >> $W; exit 0'),
      hook('echo hook >> $W; sleep 60'),
    ),
    witness.pod('ordered', { terminationGracePeriodSeconds: 30, initContainers: [side] }, onTerm('sleep 2; echo main-end >> $W; exit 0')),
  );
  await Promise.all([waitForPod(kubectl, 'late'), waitForPod(kubectl, 'ordered')]);
  outputOf(await kubectl('delete pod late ordered --timeout=25s'));
  assert.deepEqual(await witness.said('late'), ['main', 'hook', 'term', 'end']);
  assert.deepEqual(await witness.said('ordered'), ['side', 'main', 'side-hook', 'main-end', 'side-term']);
});

test('subtle 36, 37: force leaves a program two seconds; a grace may be shortened while it runs, never made longer', async () => {
  const deaf = `trap 'echo term >> $W' TERM; while true; do sleep 1; done`;
  const names = ['forced', 'hurried', 'delayed'];
  await apply(kubectl, ...names.map((name) => witness.pod(name, { terminationGracePeriodSeconds: 60 }, deaf)));
  await Promise.all(names.map((name) => waitForPod(kubectl, name)));
  const process = await mainProcessOf(cluster, await getPod(kubectl, 'forced'));
  const startedAt = performance.now();
  outputOf(await kubectl('delete pod forced --force --grace-period=0'));
  assert.match((await kubectl('get pod forced')).stderr, /NotFound/);
  assert.ok(existsSync(`/proc/${process}`), 'the object is gone before its process');
  await until('the process is gone', async () => !existsSync(`/proc/${process}`));
  assert.ok(performance.now() - startedAt >= 1900 && (await witness.said('forced')).includes('term'));
  outputOf(await kubectl('delete pod hurried --wait=false'));
  outputOf(await kubectl('delete pod delayed --wait=false --grace-period=2'));
  await until('it was told to stop', async () => (await witness.said('hurried')).includes('term'));
  const [hurried, delayed] = await Promise.all([
    kubectl('delete pod hurried --grace-period=2 --timeout=25s'),
    kubectl('delete pod delayed --grace-period=50 --timeout=25s'),
  ]);
  outputOf(hurried);
  outputOf(delayed);
});

test('preStop runs before SIGTERM, and the grace period holds for both', async () => {
  const command = ['sh', '-c', 'trap "cat /shared/order; echo term; exit 0" TERM; sleep 100000 & wait'];
  const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo prestop > /shared/order'] } } };
  const volumes = [{ name: 'shared', emptyDir: {} }];
  await apply(
    kubectl,
    sleeper(
      'polite',
      { volumes, terminationGracePeriodSeconds: 10 },
      { command, lifecycle, volumeMounts: [{ name: 'shared', mountPath: '/shared' }] },
    ),
  );
  await waitForPod(kubectl, 'polite');
  const following = kubectl('logs -f polite');
  const startedAt = performance.now();
  outputOf(await kubectl('delete pod polite'));
  assert.ok(performance.now() - startedAt < 9000, 'it did not wait for the whole grace period');
  assert.equal(outputOf(await following), 'prestop\nterm\n');
});

test('a program that ignores SIGTERM is killed when its grace is over', async () => {
  await apply(kubectl, sleeper('stubborn', {}, { command: ['sh', '-c', 'trap "" TERM; while true; do sleep 1; done'] }));
  await waitForPod(kubectl, 'stubborn');
  outputOf(await kubectl('delete pod stubborn --grace-period=1 --timeout=20s'));
});

test('a pod that ends by itself has Succeeded or Failed, and its logs stay', async () => {
  await apply(
    kubectl,
    sleeper('good', { restartPolicy: 'Never' }, { command: ['sh', '-c', 'echo done'] }),
    sleeper('bad', { restartPolicy: 'Never' }, { command: ['sh', '-c', 'echo oops; exit 4'] }),
  );
  await waitForField(kubectl, 'good', '{.status.phase}', 'Succeeded');
  await waitForField(kubectl, 'bad', '{.status.phase}', 'Failed');
  assert.equal((await getPod(kubectl, 'bad')).status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 4);
  assert.equal(outputOf(await kubectl('logs good')), 'done\n');
  assert.match(outputOf(await kubectl('get pods good bad --no-headers')), /^good +0\/1 +Completed[\s\S]*bad +0\/1 +Error/);
});

test('init containers run one after another before the app, a sidecar beside it', async () => {
  const volumes = [{ name: 'shared', emptyDir: {} }];
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
  const container = (name: string, script: string, more: object = {}) => ({
    name,
    image: busybox,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', script],
    volumeMounts,
    ...more,
  });
  const initContainers = [
    container('first', 'echo first >> /shared/order'),
    container('sidecar', 'echo sidecar >> /shared/order; trap "exit 0" TERM; sleep 100000 & wait', { restartPolicy: 'Always' }),
    container('second', 'echo second >> /shared/order'),
  ];
  await apply(
    kubectl,
    sleeper(
      'ordered',
      { volumes, initContainers },
      { volumeMounts, command: ['sh', '-c', 'cat /shared/order; trap "exit 0" TERM; sleep 100000 & wait'] },
    ),
  );
  await waitForPod(kubectl, 'ordered');
  assert.equal(outputOf(await kubectl('logs ordered -c main')), 'first\nsidecar\nsecond\n');
  assert.match(outputOf(await kubectl('get pod ordered --no-headers')), /^ordered +2\/2 +Running/);
});

test('what the pod’s volumes and environment show is what the API has', async () => {
  await apply(
    kubectl,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'blue' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { password: 'secret' } },
  );
  const volumes = [
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'key', secret: { secretName: 'key', defaultMode: 0o400 } },
    { name: 'pod', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'host', hostPath: { path: '/etc/debian_version', type: 'File' } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/volumes/${name}` }));
  const env = [
    { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
    { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'key', key: 'password' } } },
    { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'JOINED', value: '$(COLOUR)-$(PASSWORD)' },
  ];
  await apply(kubectl, sleeper('reader', { volumes }, { volumeMounts, env }));
  await waitForPod(kubectl, 'reader');
  const sh = async (script: string) => outputOf(await kubectl(['exec', 'reader', '--', 'sh', '-c', script]));
  assert.equal(await sh('cat /volumes/settings/colour /volumes/key/password /volumes/pod/labels'), 'bluesecretreader');
  assert.equal(await sh('stat -L -c %a /volumes/key/password'), '400\n');
  assert.equal(await sh('echo $JOINED $ADDRESS'), `blue-secret ${(await getPod(kubectl, 'reader')).status?.podIP}\n`);
  assert.equal(await sh('cat /volumes/host'), await readFile('/etc/debian_version', 'utf8'));
  assert.equal(
    await sh('cut -c1-2 /var/run/secrets/kubernetes.io/serviceaccount/token; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace'),
    'ey\ndefault',
  );
});
