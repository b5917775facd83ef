import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const { kubectl } = cluster;
const podFolders = () => readdirSync(`${cluster.paths.kubeletRoot}/pods`);

test('a deleted pod is told to stop, and then its volumes, cgroups and directories are gone before the object is', async () => {
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
  ];
  const volumeMounts = [
    { name: 'disk', mountPath: '/disk' },
    { name: 'memory', mountPath: '/memory' },
  ];
  await apply(kubectl, sleeper('leaver', { volumes }, { volumeMounts }));
  await waitForPod(kubectl, 'leaver');
  const { uid } = (await getPod(kubectl, 'leaver')).metadata;
  assert.ok(podFolders().includes(uid));
  assert.match(await readFile('/proc/self/mountinfo', 'utf8'), new RegExp(uid));
  outputOf(await kubectl('delete pod leaver'));
  assert.ok(!podFolders().includes(uid), 'the pod’s folder');
  assert.doesNotMatch(await readFile('/proc/self/mountinfo', 'utf8'), new RegExp(uid), 'its mounts');
  assert.ok(!existsSync(`/sys/fs/cgroup/memory${cluster.names.cgroupRoot}/besteffort/pod${uid}`), 'its cgroup');
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
