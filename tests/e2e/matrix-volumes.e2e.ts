import assert from 'node:assert/strict';
import { access, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { ContainerStatus } from '#api/types/core-v1.ts';
import { runProgram } from '#testing/run-program.ts';
import { outputOf } from '../support/kubectl.ts';
import { contentObjects, contentSights, shownMetadata, shownResources } from '../support/matrix/content-volumes.ts';
import { becomes, matrix, refusals } from '../support/matrix/matrix.ts';
import { env, groupedSights, nodeSights, partSights } from '../support/matrix/node-volumes.ts';
import { refusedVolumes } from '../support/matrix/refused-volumes.ts';
import { lookerAt } from '../support/matrix/sights.ts';
import { apply, busybox, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// Each type of volume, and each way to mount one, as the containers see it.

const cluster = await startCluster({ upFlags: ['--timing', 'crashBackoffBaseMs=100'] });
const { kubectl } = cluster;
const host = `${cluster.paths.dataDir}/matrix`;
const socket = createServer();

before(async () => {
  await mkdir(`${host}/folder/inside`, { recursive: true });
  await writeFile(`${host}/file`, 'of the host\n', { mode: 0o640 });
  await writeFile(`${host}/folder/inside/file`, 'deep\n');
  await mkdir(`${host}/links`);
  await symlink('../folder', `${host}/links/out`);
  await new Promise<void>((resolve) => socket.listen(`${host}/socket`, resolve));
});
after(() => void socket.close());

const content = lookerAt('content', contentSights('limited', 'content'));
const onNode = lookerAt('on-node', nodeSights(host));
const parts = lookerAt('parts', partSights(host), { env });
const group = lookerAt('group', groupedSights(host));
const user = lookerAt(
  'user',
  [
    {
      volume: { configMap: { name: 'settings', items: [{ key: 'colour', path: 'a/colour' }] } },
      rows: [{ feature: 'configMap: users other than root read it too', look: 'id -u; cat $V/a/colour', sees: '1000\nblue' }],
    },
  ],
  { securityContext: { runAsUser: 1000 } },
);
const shared = { name: 'shared', mountPath: '/shared' };

matrix('volumes', cluster, contentObjects, [
  {
    pod: 'content',
    metadata: shownMetadata,
    spec: { volumes: content.volumes },
    containers: [content.looker, { name: 'limited', resources: shownResources, rows: [] }],
  },
  { pod: 'on-node', spec: { volumes: onNode.volumes }, containers: [onNode.looker] },
  { pod: 'parts', spec: { volumes: [...parts.volumes, ...user.volumes] }, containers: [parts.looker, user.looker] },
  { pod: 'group', spec: { securityContext: { runAsUser: 1000, fsGroup: 4000 }, volumes: group.volumes }, containers: [group.looker] },
  {
    pod: 'sharing',
    spec: {
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'unused', configMap: { name: 'absent' } },
      ],
      initContainers: [
        {
          name: 'giver',
          image: busybox,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'echo given > /shared/gift'],
          volumeMounts: [shared],
        },
      ],
    },
    containers: [
      {
        name: 'taker',
        volumeMounts: [shared],
        rows: [
          { feature: 'emptyDir: containers share it', look: 'cat /shared/gift', sees: 'given' },
          { feature: 'subtle 9: a volume that no container mounts is not waited for', look: 'echo runs', sees: 'runs' },
        ],
      },
    ],
  },
]);

refusals('volumes that cannot be', cluster, refusedVolumes(host));

const exec = async (pod: string, script: string) => outputOf(await kubectl(['exec', pod, '--', 'sh', '-c', script])).trim();
/** For what the container comes to see: it looks fifty times a second, for five seconds. */
const comesTrue = (pod: string, condition: string) => exec(pod, `for i in $(seq 250); do ${condition} && exit 0; usleep 20000; done; exit 1`);
const patch = async (object: string, change: object) => outputOf(await kubectl(['patch', object, '--type=merge', '-p', JSON.stringify(change)]));
const dataOf = (kind: string, name: string, data: object) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  [kind === 'Secret' ? 'stringData' : 'data']: data,
});

describe('volumes that change while the pod runs', () => {
  const volumes = [
    { name: 'config', configMap: { name: 'changing' } },
    { name: 'secret', secret: { secretName: 'changing' } },
    { name: 'optional', configMap: { name: 'to-come', optional: true } },
    { name: 'pod', downwardAPI: { items: ['labels', 'annotations'].map((path) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } })) } },
    {
      name: 'projected',
      projected: {
        sources: [
          { configMap: { name: 'changing' } },
          { secret: { name: 'changing', items: [{ key: 'word', path: 'word' }] } },
          { secret: { name: 'to-come', optional: true } },
          { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  ];
  const volumeMounts = [
    ...volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
    { name: 'config', mountPath: '/part', subPath: 'colour' },
    { name: 'projected', mountPath: '/projected-part', subPath: 'colour' },
  ];

  before(async () => {
    const objects = [dataOf('ConfigMap', 'changing', { colour: 'blue', old: 'x' }), dataOf('Secret', 'changing', { word: 'one' })];
    await apply(kubectl, ...objects, sleeper('changing', { volumes }, { volumeMounts }));
    await waitForPod(kubectl, 'changing');
  });

  test('subtle 45: a configMap is swapped as a whole within seconds, a subPath of it stays as it was', async () => {
    const before = await exec('changing', 'readlink /config/..data');
    await patch('configmap/changing', { data: { colour: 'green', old: null, fresh: 'y' } });
    await comesTrue('changing', '[ $(cat /config/colour) = green ]');
    assert.equal(await exec('changing', 'ls /config; cat /part /projected-part'), 'colour\nfresh\nblueblue');
    await comesTrue('changing', `[ $(readlink /config/..data) != ${before} -a ! -e /config/${before} ]`);
  });

  test('subtle 45: a secret', async () => {
    await patch('secret/changing', { stringData: { word: 'two' } });
    await comesTrue('changing', '[ $(cat /secret/word) = two -a $(cat /projected/word) = two ]');
  });

  test('subtle 45: labels and annotations of the pod', async () => {
    await patch('pod/changing', { metadata: { labels: { tier: 'back' }, annotations: { motto: 'no' } } });
    await comesTrue('changing', 'grep -q \'tier="back"\' /pod/labels && grep -q \'motto="no"\' /pod/annotations && grep -q back /projected/labels');
  });

  test('subtle 45: optional objects come, in a volume of their own and projected, and go', async () => {
    await apply(kubectl, dataOf('ConfigMap', 'to-come', { late: 'here' }), dataOf('Secret', 'to-come', { later: 'here too' }));
    await comesTrue('changing', '[ "$(cat /optional/late /projected/later 2>/dev/null)" = "herehere too" ]');
    outputOf(await kubectl('delete configmap/to-come secret/to-come'));
    await comesTrue('changing', '[ ! -e /optional/late -a ! -e /projected/later ]');
  });

  test('an immutable one is mounted like any other', async () => {
    await apply(kubectl, { ...dataOf('ConfigMap', 'fixed', { colour: 'grey' }), immutable: true });
    const spec = { volumes: [{ name: 'it', configMap: { name: 'fixed' } }] };
    await apply(kubectl, sleeper('fixed', spec, { volumeMounts: [{ name: 'it', mountPath: '/it' }] }));
    await waitForPod(kubectl, 'fixed');
    assert.equal(await exec('fixed', 'cat /it/colour'), 'grey');
  });

  test('a subPathExpr that cannot be is mended while the pod waits for it', async () => {
    const path = { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['where']" } } };
    const mount = { env: [path], volumeMounts: [{ name: 'it', mountPath: '/it', subPathExpr: '$(WHERE)' }] };
    await apply(kubectl, sleeper('mended', { volumes: [{ name: 'it', emptyDir: {} }] }, mount));
    const waits = await becomes(
      cluster,
      'mended',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
    );
    assert.equal(waits.status?.containerStatuses?.[0]?.state?.waiting?.message, 'missing value for WHERE');
    await patch('pod/mended', { metadata: { annotations: { where: 'there' } } });
    await waitForPod(kubectl, 'mended');
    assert.equal(await exec('mended', 'grep -c " /it " /proc/mounts'), '1');
  });
});

test('a container that swaps a folder for a link to the host, again and again, never reaches the host', async () => {
  const it = { name: 'it', mountPath: '/it' };
  const of = (name: string, script: string, ...volumeMounts: readonly object[]) => ({
    name,
    image: busybox,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', script],
    volumeMounts: [it, ...volumeMounts],
  });
  const swap = 'while :; do usleep 4000; mv -T d x; mv -T l d; usleep 2000; mv -T d l; mv -T x d; done';
  const attacker = of('attacker', `cd /it; mkdir d; ln -s /etc l; ${swap}`);
  const tells = 'if [ -e /sub/passwd ]; then echo reached >> /it/log; else echo ran >> /it/log; fi';
  const victims = Array.from({ length: 12 }, (_, index) => of(`victim-${index}`, tells, { name: 'it', mountPath: '/sub', subPath: 'd' }));
  await apply(kubectl, sleeper('attack', { restartPolicy: 'Never', volumes: [{ name: 'it', emptyDir: {} }], containers: [attacker, ...victims] }));
  const isDecided = ({ name, state }: ContainerStatus) =>
    name === 'attacker' || state?.terminated !== undefined || state?.waiting?.reason === 'CreateContainerConfigError';
  await becomes(cluster, 'attack', ({ status }) => status?.containerStatuses?.every(isDecided) === true);
  assert.match(outputOf(await kubectl(['exec', 'attack', '-c', 'attacker', '--', 'cat', '/it/log'])), /^(ran\n)+$/);
});

test('mountPropagation: mounts of the host and of the container reach each other as asked, and what is read-only is not so below', async () => {
  const root = `${host}/propagation`;
  const program = async (...words: readonly string[]) => outputOf(await runProgram(words, 10_000));
  await mkdir(root);
  await program('mount', '--bind', root, root);
  try {
    await program('mount', '--make-shared', root);
    await mkdir(`${root}/early`);
    await mkdir(`${root}/late`);
    await program('mount', '-t', 'tmpfs', 'early', `${root}/early`);
    const kinds = ['None', 'HostToContainer', 'Bidirectional'];
    const mounts = kinds.map((mountPropagation) => ({ name: 'it', mountPath: `/${mountPropagation}`, mountPropagation }));
    const sealed = { name: 'it', mountPath: '/sealed', readOnly: true, recursiveReadOnly: 'IfPossible' };
    const privileged = { securityContext: { privileged: true }, volumeMounts: [...mounts, sealed] };
    await apply(kubectl, sleeper('propagation', { volumes: [{ name: 'it', hostPath: { path: root } }] }, privileged));
    await waitForPod(kubectl, 'propagation');
    await program('mount', '-t', 'tmpfs', 'late', `${root}/late`);
    await writeFile(`${root}/late/mounted`, '');
    assert.equal(await exec('propagation', `for p in ${kinds.join(' ')}; do ls /$p/late; done; echo end`), 'mounted\nmounted\nend');
    await exec('propagation', 'mkdir /Bidirectional/inner && mount -t tmpfs inner /Bidirectional/inner && touch /Bidirectional/inner/mounted');
    await access(`${root}/inner/mounted`);
    assert.equal(
      await exec('propagation', 'touch /sealed/x 2>&1 || touch /sealed/early/x && echo below'),
      'touch: /sealed/x: Read-only file system\nbelow',
    );
    outputOf(await kubectl('delete pod propagation'));
  } finally {
    await program('umount', '-R', root);
  }
});
