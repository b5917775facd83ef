import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { WebSocket } from 'ws';
import { kubectlPath, outputOf } from '../support/kubectl.ts';
import { apply, busybox, sleeper, waitForPod } from '../support/pods.ts';
import { requestsTo } from '../support/requests.ts';
import { startCluster } from '../support/start-cluster.ts';

/** Upstream’s conformance tests of the pod API and of kubectl, told again; each test has the name of upstream’s. */
const cluster = await startCluster();
const { kubectl } = cluster;
const api = await requestsTo(cluster.kubeconfig);
const folder = await mkdtemp(join(tmpdir(), 'conformance-kubectl-'));
after(() => rm(folder, { recursive: true, force: true }));
const pods = '/api/v1/namespaces/default/pods';
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
type Any = any;

async function succeeded(call: ReturnType<typeof api.call>, status = 200): Promise<Any> {
  const answer = await call;
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}
const get = async (path: string) => await succeeded(api.call('GET', path));
const replace = async (path: string, body: object) => await succeeded(api.call('PUT', path, { body }));
const patch = async (path: string, body: object) => await succeeded(api.call('PATCH', path, { headers: strategic, body }));
const out = async (words: string | readonly string[], options = {}) => outputOf(await kubectl(words, options));

/** The pod as it is when it is as wanted, seen by watching. */
async function until(name: string, accepted: (pod: Any) => boolean): Promise<Any> {
  const path = `${pods}?watch=1&timeoutSeconds=20&fieldSelector=metadata.name%3D${name}`;
  return (await api.watch(path, ({ object }) => accepted(object))).at(-1)?.object;
}

test('Pods should patch a pod status', async () => {
  await apply(kubectl, sleeper('patched-status', { nodeSelector: { nowhere: 'yes' } }));
  const patched = await patch(`${pods}/patched-status/status`, { status: { message: 'Patched by e2e test', reason: 'E2E' } });
  assert.deepEqual([patched.status.message, patched.status.reason], ['Patched by e2e test', 'E2E']);
  assert.equal((await get(`${pods}/patched-status/status`)).status.reason, 'E2E');
  await succeeded(api.call('DELETE', `${pods}/patched-status`));
});

test('Pods should delete a collection of pods', async () => {
  const of = (name: string) => ({ ...sleeper(name), metadata: { name, labels: { type: 'Testing' } } });
  await apply(kubectl, of('many-1'), of('many-2'), of('many-3'));
  await succeeded(api.call('DELETE', `${pods}?labelSelector=type%3DTesting`));
  await out('wait pod -l type=Testing --for=delete --timeout=30s');
  assert.deepEqual((await get(`${pods}?labelSelector=type%3DTesting`)).items, []);
});

test('Pods should be updated, their generation tells of each change of the spec and the kubelet has observed the last', async () => {
  await apply(kubectl, sleeper('generations'));
  await waitForPod(kubectl, 'generations');
  const first = await get(`${pods}/generations`);
  assert.deepEqual([first.metadata.generation, first.status.observedGeneration], [1, 1]);
  assert.equal((await patch(`${pods}/generations`, { metadata: { labels: { time: 'now' } } })).metadata.generation, 1);
  assert.equal((await patch(`${pods}/generations/status`, { status: { message: 'told' } })).metadata.generation, 1);
  const toleration = { key: 'e2e', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  assert.equal((await patch(`${pods}/generations`, { spec: { tolerations: [...first.spec.tolerations, toleration] } })).metadata.generation, 2);
  for (let n = 0; n < 500; n += 1) {
    await patch(`${pods}/generations`, { spec: { activeDeadlineSeconds: 100_000 - n } });
  }
  const last = await until('generations', ({ status }) => status.observedGeneration === 502);
  assert.deepEqual([last.metadata.generation, last.spec.activeDeadlineSeconds], [502, 99_501]);
  assert.equal(last.status.conditions.find(({ type }: Any) => type === 'Ready').observedGeneration, 502);
  await succeeded(api.call('DELETE', `${pods}/generations`));
});

test('Pod Generation: custom-set generation on new pods and graceful delete', async () => {
  const { metadata, spec } = sleeper('aged', { terminationGracePeriodSeconds: 20 }, { command: ['sh', '-c', 'trap "" TERM; sleep 4'] }) as Any;
  const created = await succeeded(api.call('POST', pods, { body: { metadata: { ...metadata, generation: 100 }, spec } }), 201);
  assert.equal(created.metadata.generation, 1);
  await waitForPod(kubectl, 'aged');
  await succeeded(api.call('DELETE', `${pods}/aged`));
  assert.equal((await get(`${pods}/aged`)).metadata.generation, 2);
  assert.equal((await until('aged', ({ status }) => status.observedGeneration === 2)).metadata.deletionGracePeriodSeconds, 20);
});

test('Pod Generation: issue 500 podspec updates and verify generation and observedGeneration eventually converge', async () => {
  await apply(kubectl, sleeper('busy'));
  await waitForPod(kubectl, 'busy');
  for (let n = 1; n <= 500; n += 1) await patch(`${pods}/busy`, { spec: { activeDeadlineSeconds: 5000 - n } });
  const { metadata, status } = await until('busy', (pod) => pod.status.observedGeneration === 501);
  assert.equal(metadata.generation, 501);
  for (const { type, observedGeneration } of status.conditions) assert.equal(observedGeneration, 501, type);
  assert.equal(status.containerStatuses[0].restartCount, 0);
});

test('Pods should support retrieving logs from the container over websockets', async () => {
  await apply(kubectl, sleeper('teller', {}, { command: ['sh', '-c', 'echo container is alive; sleep 10000'] }));
  await waitForPod(kubectl, 'teller');
  const server = new URL(api.config.getCurrentCluster()?.server ?? '');
  const tls: Any = {};
  await api.config.applyToHTTPSOptions(tls);
  for (const protocol of ['binary.k8s.io', 'base64.binary.k8s.io']) {
    const socket = new WebSocket(`wss://${server.host}${pods}/teller/log?container=main`, [protocol], tls);
    const messages: string[] = [];
    socket.on('message', (data, isBinary) => messages.push(isBinary ? String(data) : Buffer.from(String(data), 'base64').toString()));
    await once(socket, 'close');
    assert.equal(messages.join(''), 'container is alive\n', protocol);
  }
});

test('Pods should allow activeDeadlineSeconds to be updated', async () => {
  await apply(kubectl, sleeper('deadline', { activeDeadlineSeconds: 30 }));
  await waitForPod(kubectl, 'deadline');
  await patch(`${pods}/deadline`, { spec: { activeDeadlineSeconds: 1 } });
  const ended = await until('deadline', ({ status }) => status.phase === 'Failed');
  assert.equal(ended.status.reason, 'DeadlineExceeded');
});

test('Ephemeral Containers should update the ephemeral containers in an existing pod', async () => {
  await apply(kubectl, sleeper('debugged'));
  await waitForPod(kubectl, 'debugged');
  const debug = (name: string) => ({ name, image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sleep', '10000'] });
  const patched = await patch(`${pods}/debugged/ephemeralcontainers`, { spec: { ephemeralContainers: [debug('debugger1')] } });
  assert.equal(patched.metadata.generation, 2);
  const before = await get(`${pods}/debugged/ephemeralcontainers`);
  delete before.metadata.resourceVersion; // the kubelet writes too
  const ephemeralContainers = [...before.spec.ephemeralContainers, debug('debugger2')];
  const updated = await replace(`${pods}/debugged/ephemeralcontainers`, { ...before, spec: { ...before.spec, ephemeralContainers } });
  assert.deepEqual(
    updated.spec.ephemeralContainers.map(({ name }: Any) => name),
    ['debugger1', 'debugger2'],
  );
  await succeeded(api.call('DELETE', `${pods}/debugged`));
});

test('Pods should run through the lifecycle of Pods and PodStatus', async () => {
  const { metadata } = await get(pods);
  await apply(kubectl, { ...sleeper('lived'), metadata: { name: 'lived', labels: { 'test-pod-static': 'true' } } });
  await waitForPod(kubectl, 'lived');
  const image = busybox.replace('docker.io/', '');
  const patched = await patch(`${pods}/lived`, { metadata: { labels: { 'test-pod': 'patched' } }, spec: { containers: [{ name: 'main', image }] } });
  assert.deepEqual([patched.metadata.labels['test-pod'], patched.spec.containers[0].image], ['patched', image]);
  const { status, metadata: read } = await get(`${pods}/lived/status`);
  const conditions = status.conditions.map((one: Any) => (one.type === 'Ready' ? { ...one, status: 'False' } : one));
  const unconditional = { ...patched, metadata: { ...read, resourceVersion: undefined } }; // the kubelet writes too
  const replaced = await replace(`${pods}/lived/status`, { ...unconditional, status: { ...status, conditions } });
  assert.equal(replaced.status.conditions.find(({ type }: Any) => type === 'Ready').status, 'False');
  await succeeded(api.call('DELETE', `${pods}?labelSelector=test-pod-static%3Dtrue`));
  const watch = `${pods}?watch=1&timeoutSeconds=20&labelSelector=test-pod-static%3Dtrue&resourceVersion=${metadata.resourceVersion}`;
  const types = (await api.watch(watch, ({ type }) => type === 'DELETED')).map(({ type }) => type);
  assert.deepEqual([types[0], types[1], types.at(-1)], ['ADDED', 'MODIFIED', 'DELETED']);
});

test('RuntimeClass should schedule a Pod requesting a RuntimeClass and initialize its Overhead, and reject one that is not there or deleted', async () => {
  const path = '/apis/node.k8s.io/v1/runtimeclasses';
  const overhead = { podFixed: { cpu: '10m', memory: '1Mi' } };
  await succeeded(api.call('POST', path, { body: { metadata: { name: 'heavy' }, handler: 'runc', overhead } }), 201);
  const dry = () => api.call('POST', `${pods}?dryRun=All`, { body: sleeper('of-class', { runtimeClassName: 'heavy' }) });
  assert.deepEqual((await succeeded(dry(), 201)).spec.overhead, overhead.podFixed);
  assert.equal((await succeeded(api.call('PATCH', `${path}/heavy`, { headers: strategic, body: { handler: 'other' } }), 422)).reason, 'Invalid');
  await succeeded(api.call('DELETE', `${path}/heavy`));
  const refused = await succeeded(dry(), 403);
  assert.match(refused.message, /pod rejected: RuntimeClass "heavy" not found/);
});

test('ConfigMap and Secrets should fail to create one with an empty key', async () => {
  for (const kind of ['configmaps', 'secrets']) {
    const refused = await succeeded(
      api.call('POST', `/api/v1/namespaces/default/${kind}`, { body: { metadata: { name: 'empty' }, data: { '': 'dmFsdWU=' } } }),
      422,
    );
    assert.deepEqual([refused.reason, refused.details.causes[0].field], ['Invalid', 'data[]']);
  }
});

test('Sysctls should reject invalid sysctls', async () => {
  const sysctls = ['foo-', 'kernel.shmmax', 'safe-and-unsafe', 'bar..'].map((name) => ({ name, value: '42' }));
  const { stderr } = await kubectl('create -f -', { input: JSON.stringify(sleeper('sysctls', { securityContext: { sysctls } })) });
  for (const index of [0, 3])
    assert.match(stderr, new RegExp(`spec.securityContext.sysctls\\[${index}\\].name: Invalid value: "${sysctls[index]?.name}"`));
  for (const index of [1, 2]) assert.doesNotMatch(stderr, new RegExp(`sysctls\\[${index}\\]`));
});

const rc = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'agnhost-primary', labels: { app: 'agnhost', role: 'primary' } },
  spec: {
    replicas: 1,
    selector: { app: 'agnhost', role: 'primary' },
    template: { metadata: { labels: { app: 'agnhost', role: 'primary' } }, spec: { containers: [{ name: 'main', image: busybox }] } },
  },
};

test('Kubectl describe should check if kubectl describe prints relevant information for rc and pods', async () => {
  await out('create -f -', { input: JSON.stringify({ ...rc, spec: { ...rc.spec, replicas: 0 } }) });
  const shown = await out('describe rc agnhost-primary');
  for (const wanted of [/^Name: +agnhost-primary$/m, /^Namespace: +default$/m, /^Selector: +app=agnhost,role=primary$/m, /^Labels: +app=agnhost$/m]) {
    assert.match(shown, wanted);
  }
  assert.match(shown, /^Replicas: +0 current \/ 0 desired$/m);
  assert.match(await out('describe namespace default'), /^Status: +Active$/m);
  const [node] = (await get('/api/v1/nodes')).items;
  assert.match(await out(`describe node ${node.metadata.name}`), /^Allocatable:$/m);
});

test('Kubectl expose should create services for rc', async () => {
  assert.equal(await out('expose rc agnhost-primary --name=rm2 --port=1234 --target-port=6379'), 'service/rm2 exposed\n');
  assert.equal(await out('expose service rm2 --name=rm3 --port=2345 --target-port=6379'), 'service/rm3 exposed\n');
  const ports = await out(['get', 'service', 'rm2', 'rm3', '-o', 'jsonpath={.items[*].spec.ports[0].port}/{.items[*].spec.ports[0].targetPort}']);
  assert.equal(ports, '1234 2345/6379 6379');
});

test('Kubectl run pod should create a pod, which label, patch, replace and a server-side dry run change', async () => {
  const run = `run named --image=${busybox} --image-pull-policy=IfNotPresent --restart=Never --labels=run=named --command -- sleep 1000`;
  assert.equal(await out(run), 'pod/named created\n');
  await waitForPod(kubectl, 'named');
  assert.equal(await out('get pod named -o jsonpath={.spec.restartPolicy}'), 'Never');
  await out('label pods named testing-label=testing-label-value');
  assert.match(await out('get pod named -L testing-label'), /testing-label-value/);
  await out('label pods named testing-label-');
  assert.doesNotMatch(await out('get pod named -L testing-label'), /testing-label-value/);
  await out(['patch', 'pod', 'named', '-p', '{"metadata":{"annotations":{"x":"y"}}}']);
  const image = (name: string) => JSON.stringify({ spec: { containers: [{ name: 'named', image: name }] } });
  await out(['patch', 'pod', 'named', '-p', image('busybox:none'), '--dry-run=server']);
  assert.equal(await out('get pod named -o jsonpath={.spec.containers[0].image}/{.metadata.annotations.x}'), `${busybox}/y`);
  const input = (await out('get pod named -o json')).replaceAll(busybox, busybox.replace('docker.io/library/', ''));
  assert.equal(await out('replace -f -', { input }), 'pod/named replaced\n');
  assert.equal(await out('get pod named -o jsonpath={.spec.containers[0].image}'), 'busybox:latest');
  await out('delete pod named --now');
});

test('Kubectl cluster-info, version, api-versions and diff tell what they should', async () => {
  assert.match(await out('cluster-info'), /Kubernetes control plane.* is running at/);
  assert.match(await out('version'), /Client Version: v[\s\S]*Server Version: v/);
  assert.ok((await out('api-versions')).split('\n').includes('v1'));
  const deployment = (image: string) =>
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'differs' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } },
      },
    });
  await out('create -f -', { input: deployment('httpd') });
  const diff = await kubectl('diff -f -', { input: deployment('busybox') });
  assert.equal(diff.code, 1);
  assert.match(diff.stdout, /^-.*image: httpd$[\s\S]*^\+.*image: busybox$/m);
});

test('Kubectl logs should be able to retrieve and filter logs', async () => {
  const command = ['sh', '-c', 'for n in 1 2 3 4 5; do echo "line $n"; done; touch /tmp/said; exec sleep 10000'];
  const readinessProbe = { exec: { command: ['test', '-e', '/tmp/said'] }, periodSeconds: 1 };
  await apply(kubectl, sleeper('logger', {}, { command, readinessProbe }));
  await waitForPod(kubectl, 'logger');
  const logs = async (flags: string) => await out(`logs logger main ${flags}`.trim());
  assert.equal(await logs(''), 'line 1\nline 2\nline 3\nline 4\nline 5\n');
  assert.equal(await logs('--tail=1'), 'line 5\n');
  assert.equal(await logs('--limit-bytes=1'), 'l');
  assert.match(await logs('--tail=1 --timestamps'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d) line 5\n$/);
  assert.equal((await logs('--since=24h')).split('\n').length, 6);
  assert.equal(await logs('--since-time=2100-01-01T00:00:00Z'), '');
});

for (const [title, flags] of [
  ['proxy with --port 0', ['--port=0', '--disable-filter']],
  ['--unix-socket=/path', [`--unix-socket=${join(folder, 'proxy.sock')}`, '--disable-filter']],
] as const) {
  test(`Proxy server should support ${title}`, async () => {
    const proxy = spawn(kubectlPath('1.35'), ['--kubeconfig', cluster.kubeconfig, 'proxy', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [said]: Buffer[] = await once(proxy.stdout, 'data');
      const address = /Starting to serve on (.+)\n/.exec(String(said))?.[1] ?? '';
      const where = address.startsWith('/') ? { socketPath: address } : { host: '127.0.0.1', port: address.split(':')[1] };
      const [answer]: IncomingMessage[] = await once(request({ ...where, path: '/api/' }).end(), 'response');
      assert.ok(answer);
      assert.equal(JSON.parse(await text(answer)).kind, 'APIVersions');
    } finally {
      proxy.kill();
    }
  });
}
