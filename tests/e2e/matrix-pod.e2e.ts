import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import {
  environmentContainers,
  environmentMetadata,
  environmentObjects,
  environmentRefusals,
  spokenContainers,
  spokenImage,
} from '../support/matrix/environments.ts';
import { becomes, matrix, refusals } from '../support/matrix/matrix.ts';
import { clusterDns, dnsSubjects, nameRefusals, nameSubjects, nodeResolvConf } from '../support/matrix/names-and-dns.ts';
import { loadTestImage } from '../support/matrix/test-image.ts';
import { apply, busybox, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// What else a pod says of itself and of its containers, as these see it: names, DNS, variables, commands, last words, hooks, terminals.

const folder = await mkdtemp(join(tmpdir(), 'matrix-pod-'));
await writeFile(`${folder}/resolv.conf`, nodeResolvConf);
const cluster = await startCluster({ kubelet: { clusterDNS: clusterDns, resolvConf: `${folder}/resolv.conf` } });
after(() => rm(folder, { recursive: true }));
const { kubectl } = cluster;
const spoken = await loadTestImage(cluster, 'spoken:1', spokenImage);

const worker = (name: string, script: string) => ({ name, image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', script] });

matrix('names, DNS, variables and commands', cluster, environmentObjects, [
  { pod: 'environment', metadata: environmentMetadata, containers: environmentContainers },
  {
    pod: 'unlinked',
    spec: { enableServiceLinks: false },
    containers: [
      {
        name: 'main',
        rows: [
          {
            feature: 'enableServiceLinks: false leaves the API server alone',
            look: 'env | grep -c "^KUBERNETES_SERVICE_HOST"; env | grep -c "^FRONT_END"',
            sees: '1\n0',
          },
        ],
      },
    ],
  },
  {
    pod: 'from-file',
    spec: {
      volumes: [{ name: 'it', emptyDir: {} }],
      initContainers: [{ ...worker('writer', 'echo "A=\'of a file\'" > /it/env'), volumeMounts: [{ name: 'it', mountPath: '/it' }] }],
    },
    containers: [
      {
        name: 'main',
        env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'it', path: 'env', key: 'A' } } }],
        rows: [{ feature: 'fileKeyRef: a key of a file that another container wrote', look: 'echo $A', sees: 'of a file' }],
      },
    ],
  },
  {
    pod: 'terminal',
    containers: [
      { name: 'with', tty: true, rows: [{ feature: 'tty: a terminal', look: '[ -t 1 ] && echo terminal', sees: 'terminal' }] },
      { name: 'without', rows: [{ feature: 'tty: none unless it is said', look: '[ -t 1 ] || echo none; wc -c', sees: 'none\n0' }] },
    ],
  },
  { pod: 'spoken', containers: spokenContainers(spoken) },
  ...dnsSubjects,
  ...nameSubjects(await readFile('/etc/hosts', 'utf8')),
]);

refusals('names and variables that cannot be', cluster, [...environmentRefusals, ...nameRefusals]);

const out = async (words: string | readonly string[], input?: string) => outputOf(await kubectl(words, input === undefined ? {} : { input }));
const statusOf = ({ status }: Pod, name = 'main') => status?.containerStatuses?.find((one) => one.name === name);

test('terminationMessagePath and terminationMessagePolicy: what of its last words is told', async () => {
  const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' };
  const custom = { terminationMessagePath: '/dev/last', securityContext: { runAsUser: 1000 } };
  const cases: Readonly<Record<string, readonly [script: string, more: object, told: string | undefined]>> = {
    usual: ['echo -n bye > /dev/termination-log', {}, 'bye'],
    custom: ['echo -n adieu > /dev/last', custom, 'adieu'],
    silent: ['echo of the log; exit 1', {}, undefined],
    failed: ['echo of the log; exit 1', fallback, 'of the log\n'],
    well: ['echo of the log', fallback, undefined],
    both: ['echo of the log; echo -n of the file > /dev/termination-log; exit 1', fallback, 'of the file'],
    // Its last 4096 bytes, and of these its share: the containers of a pod have 12288 together.
    long: ['(head -c 1000 /dev/zero; yes | head -c 4096) > /dev/termination-log', {}, 'y\n'.repeat(768)],
    verbose: ['for i in $(seq 100); do echo $i; done; exit 1', fallback, Array.from({ length: 80 }, (_, n) => `${n + 21}\n`).join('')],
  };
  const containers = Object.entries(cases).map(([name, [script, more]]) => ({ ...worker(name, script), ...more }));
  await apply(kubectl, sleeper('last-words', { restartPolicy: 'Never', containers }));
  const ended = await becomes(cluster, 'last-words', ({ status }) => status?.phase === 'Failed');
  const told = Object.keys(cases).map((name) => [name, statusOf(ended, name)?.state?.terminated?.message]);
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(Object.entries(cases).map(([name, [, , message]]) => [name, message])));
});

test('a container that waits for a configMap in its environment starts when it is there', async () => {
  const env = [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'late', key: 'x' } } }];
  await apply(kubectl, sleeper('patient', {}, { env }));
  await becomes(cluster, 'patient', (pod) => statusOf(pod)?.state?.waiting?.reason === 'CreateContainerConfigError');
  await apply(kubectl, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { x: 'here' } });
  await waitForPod(kubectl, 'patient');
  assert.match(await out('exec patient -- env'), /^X=here$/m);
});

describe('hooks', { concurrency: true }, () => {
  const asked: { readonly url: string; readonly agent: string; readonly accept: string; readonly more: string }[] = [];
  const server = createServer(({ url = '', headers }, answer) => {
    asked.push({ url, agent: headers['user-agent'] ?? '', accept: headers.accept ?? '', more: String(headers['x-more'] ?? '') });
    answer.writeHead(500).end(); // that there is an answer is all that counts
  });
  let port = 0;
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => void server.close());
  const get = (path: string, more: object = {}) => ({
    httpGet: { host: '127.0.0.1', port, path, httpHeaders: [{ name: 'X-More', value: 'yes' }], ...more },
  });
  const hooked = (name: string, lifecycle: object, spec: object = {}) => sleeper(name, spec, { lifecycle });

  test('postStart exec: it runs in the container', async () => {
    await apply(kubectl, hooked('post-exec', { postStart: { exec: { command: ['sh', '-c', 'hostname > /hooked'] } } }));
    await waitForPod(kubectl, 'post-exec');
    assert.equal(await out('exec post-exec -- cat /hooked'), 'post-exec\n');
  });

  test('postStart and preStop httpGet: the answer\u2019s status does not matter', async () => {
    await apply(kubectl, hooked('by-http', { postStart: get('/started?x=1'), preStop: get('/stopping') }));
    await waitForPod(kubectl, 'by-http');
    await out('delete pod by-http');
    const common = { agent: 'kube-lifecycle/1.36', accept: '*/*', more: 'yes' };
    assert.deepEqual(
      asked.filter(({ url }) => url.startsWith('/st')),
      [
        { url: '/started?x=1', ...common },
        { url: '/stopping', ...common },
      ],
    );
  });

  test('a hook by HTTPS whose server speaks HTTP is asked so, and that is told', async () => {
    await apply(kubectl, hooked('fallen-back', { postStart: get('/fallen-back', { scheme: 'HTTPS' }) }));
    await waitForPod(kubectl, 'fallen-back');
    assert.equal(
      await toldOf(cluster, 'fallen-back', 'LifecycleHTTPFallback'),
      'request to HTTPS lifecycle hook 127.0.0.1 got HTTP response, retry with HTTP succeeded',
    );
    assert.equal(asked.filter(({ url }) => url === '/fallen-back').length, 1);
  });

  test('postStart and preStop sleep', async () => {
    await apply(
      kubectl,
      hooked('asleep', { postStart: { sleep: { seconds: 1 } }, preStop: { sleep: { seconds: 1 } } }, { terminationGracePeriodSeconds: 20 }),
    );
    await waitForPod(kubectl, 'asleep');
    const startedAt = Date.now();
    await out('delete pod asleep');
    assert.ok(Date.now() - startedAt >= 1000);
  });

  test('a postStart that fails ends the container, and is told', async () => {
    await apply(kubectl, hooked('post-failed', { postStart: { exec: { command: ['sh', '-c', 'echo so; exit 3'] } } }));
    const failed = await becomes(cluster, 'post-failed', (pod) => statusOf(pod)?.state?.waiting?.reason === 'PostStartHookError');
    const where = `Container "main" in Pod "post-failed_default(${failed.metadata.uid})"`;
    const message = `Exec lifecycle hook ([sh -c echo so; exit 3]) for ${where} failed - error: command 'sh -c echo so; exit 3' exited with 3: , message: "so\\n"`;
    assert.equal(statusOf(failed)?.state?.waiting?.message, message);
    assert.equal(await toldOf(cluster, 'post-failed', 'FailedPostStartHook'), 'PostStartHook failed');
    await toldOf(cluster, 'post-failed', 'Killing', (told) => told === 'FailedPostStartHook');
  });

  test('a preStop that fails is told, and the container is stopped all the same', async () => {
    const preStop = { exec: { command: ['sh', '-c', 'exit 4'] } };
    await apply(kubectl, hooked('pre-failed', { preStop }, { terminationGracePeriodSeconds: 20 }));
    await waitForPod(kubectl, 'pre-failed');
    await out('delete pod pre-failed');
    assert.equal(await toldOf(cluster, 'pre-failed', 'FailedPreStopHook'), 'PreStopHook failed');
  });
});

test('kubectl debug: an ephemeral container has its own files, and sees the processes of its target', async () => {
  await apply(kubectl, sleeper('target', {}, { env: [{ name: 'OF', value: 'the target' }] }));
  await waitForPod(kubectl, 'target');
  const look = 'tr "\\0" "\\n" < /proc/1/environ | grep ^OF=; ls /proc/1/root/mine 2>&1 | tail -1; hostname; [ $$$$ -ne 1 ] && echo not the first';
  await out('exec target -- touch /mine');
  await out(['debug', 'target', '-c', 'doctor', '--image', busybox, '--image-pull-policy=IfNotPresent', '--target=main', '--', 'sh', '-c', look]);
  const isOver = ({ status }: Pod) => status?.ephemeralContainerStatuses?.[0]?.state?.terminated !== undefined;
  const after = await becomes(cluster, 'target', isOver);
  assert.equal(await out('logs target -c doctor'), 'OF=the target\n/proc/1/root/mine\ntarget\nnot the first\n');
  assert.deepEqual([after.status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, after.status?.phase], [0, 'Running']);
  assert.equal(statusOf(after)?.restartCount, 0);
});

test('stdin and stdinOnce: who is attached speaks to the container, and when they leave it has heard all', async () => {
  const words = ['run', 'listener', '-i', '--rm', '--quiet', '--restart=Never', '--image', busybox, '--image-pull-policy=IfNotPresent'];
  assert.equal(await out([...words, '--', 'sh', '-c', 'cat; echo heard'], 'hello\n'), 'hello\nheard\n');
  await apply(kubectl, sleeper('once', { restartPolicy: 'Never' }, { stdin: true, stdinOnce: true, command: ['sh', '-c', 'cat; echo over'] }));
  await waitForPod(kubectl, 'once');
  await out('attach -i once', 'one\n');
  await becomes(cluster, 'once', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(await out('logs once'), 'one\nover\n');
});
