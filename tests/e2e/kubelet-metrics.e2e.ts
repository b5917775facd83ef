import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { before, test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// The numbers of a kubelet, and the pages that its configuration turns on.

const [readOnlyPort, healthzPort] = [await freePort(), await freePort()];
const cluster = await startCluster({
  kubelet: {
    readOnlyPort,
    healthzPort,
    healthzBindAddress: '127.0.0.1',
    enableSystemLogQuery: true,
    streamingConnectionIdleTimeout: '3s',
    volumeStatsAggPeriod: '1s',
  },
});
const { kubectl } = cluster;

let nodeName = '';
let kubelet: { readonly host: string; readonly port: number };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has one
  server.close();
  await once(server, 'close');
  return port;
}

before(async () => {
  nodeName = outputOf(await kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));
  const at = '{.items[0].status.addresses[?(@.type=="InternalIP")].address} {.items[0].status.daemonEndpoints.kubeletEndpoint.Port}';
  const [host = '', port = ''] = outputOf(await kubectl(['get', 'nodes', '-o', `jsonpath=${at}`])).split(' ');
  kubelet = { host, port: Number(port) };
  const first = { name: 'first', image: 'docker.io/library/busybox:latest', imagePullPolicy: 'IfNotPresent', command: ['true'] };
  const volumes = [{ name: 'scratch', emptyDir: {} }];
  const livenessProbe = { exec: { command: ['true'] }, periodSeconds: 1 };
  const startupProbe = { exec: { command: ['test', '-e', '/never'] }, periodSeconds: 1, failureThreshold: 1000 };
  const mounts = { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] };
  await apply(
    kubectl,
    sleeper('whole', { initContainers: [first], volumes }, { livenessProbe, ...mounts }),
    sleeper('starts', {}, { startupProbe }),
    sleeper('nothing', {}, { image: 'localhost/no-such-image:1', imagePullPolicy: 'Never' }),
  );
  await waitForPod(kubectl, 'whole');
  await waitForField(kubectl, 'nothing', '{.status.containerStatuses[0].state.waiting.reason}', 'ErrImageNeverPull');
  await waitForField(kubectl, 'starts', '{.status.phase}', 'Running');
});

/** Through the API server's proxy, as an administrator. */
async function raw(path: string): Promise<string> {
  return outputOf(await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy${path}`]));
}

/** Prometheus' text: values by series, and types by family. */
async function page(path: string) {
  const lines = (await raw(path)).split('\n');
  const types = new Map(lines.flatMap((line) => (line.startsWith('# TYPE ') ? [line.slice(7).split(' ') as [string, string]] : [])));
  const series = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const find = (name: string, labels: Readonly<Record<string, string>> = {}): readonly string[] =>
    series.filter(
      (line) => /^[^{ ]+/.exec(line)?.[0] === name && Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
    );
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number => {
    const [line] = find(name, labels);
    if (line === undefined) throw new Error(`${name} ${JSON.stringify(labels)} is missing in\n${series.join('\n')}`);
    return Number(
      line
        .slice(line.lastIndexOf('}') + 1)
        .trim()
        .split(' ')[line.includes('{') ? 0 : 1],
    );
  };
  return { types, series, find, value };
}

test('metrics: starts, runtime calls and what there is, under upstream’s names', async () => {
  const { value } = await page('/metrics');
  assert.equal(value('kubelet_node_name', { node: nodeName }), 1);
  assert.equal(value('kubelet_running_pods'), 3);
  assert.equal(value('kubelet_desired_pods', { static: '' }), 3);
  assert.equal(value('kubelet_working_pods', { lifecycle: 'sync', config: 'desired' }), 3);
  assert.equal(value('kubelet_running_containers', { container_state: 'running' }), 2);
  assert.equal(value('kubelet_running_containers', { container_state: 'exited' }), 1);
  assert.ok(value('kubelet_started_pods_total') >= 3);
  assert.equal(value('kubelet_started_containers_total', { container_type: 'init_container' }), 1);
  assert.ok(value('kubelet_started_containers_errors_total', { container_type: 'container', code: 'ErrImageNeverPull' }) >= 1);
  assert.equal(value('kubelet_terminated_containers_total', { container_type: 'init_container', exit_code: '0', reason: 'Completed' }), 1);
  const promised = value('kubelet_pod_start_sli_duration_seconds_count');
  assert.equal(promised, value('kubelet_pod_start_total_duration_seconds_count'));
  assert.equal(promised, 2, 'of the three the two that run');
  assert.ok(value('kubelet_pod_start_sli_duration_seconds_sum') <= value('kubelet_pod_start_total_duration_seconds_sum'));
  for (const operation of ['run_podsandbox', 'create_container', 'start_container', 'list_containers', 'container_status', 'exec_sync'])
    assert.ok(value('kubelet_runtime_operations_total', { operation_type: operation }) >= 1, operation);
  assert.ok(value('kubelet_run_podsandbox_duration_seconds_count', { runtime_handler: '' }) >= 3);
  assert.ok(value('kubelet_cgroup_manager_duration_seconds_count', { operation_type: 'create' }) >= 3);
  assert.ok(value('kubelet_pod_worker_duration_seconds_count', { operation_type: 'create' }) >= 3);
  assert.ok(value('kubelet_pod_status_sync_duration_seconds_count') >= 3);
  assert.ok(value('kubelet_pleg_relist_duration_seconds_count') >= 1);
  const mounted = { volume_plugin: 'kubernetes.io/empty-dir', operation_name: 'volume_mount', status: 'success', migrated: 'false' };
  assert.equal(value('storage_operation_duration_seconds_count', mounted), 1);
  assert.ok(value('rest_client_requests_total', { code: '200', method: 'PATCH' }) >= 1);
  assert.ok(value('kubelet_http_requests_total', { method: 'GET', path: 'metrics', server_type: 'readwrite', long_running: 'false' }) >= 1);
  assert.ok(value('kubelet_certificate_manager_server_ttl_seconds') > 3600);
  assert.ok(value('kubelet_node_startup_duration_seconds') > value('kubelet_node_startup_registration_duration_seconds'));
  assert.ok(value('process_resident_memory_bytes') > 2 ** 20);
});

test('metrics: types and labels are those that dashboards and alerts for kubelets expect', async () => {
  const { types, find } = await page('/metrics');
  const expected: Readonly<Record<string, string>> = {
    kubelet_node_name: 'gauge',
    kubelet_running_pods: 'gauge',
    kubelet_running_containers: 'gauge',
    kubelet_runtime_operations_total: 'counter',
    kubelet_runtime_operations_errors_total: 'counter',
    kubelet_runtime_operations_duration_seconds: 'histogram',
    kubelet_pod_start_duration_seconds: 'histogram',
    kubelet_pod_start_sli_duration_seconds: 'histogram',
    kubelet_pod_worker_duration_seconds: 'histogram',
    kubelet_pod_worker_start_duration_seconds: 'histogram',
    kubelet_pleg_relist_duration_seconds: 'histogram',
    kubelet_pleg_relist_interval_seconds: 'histogram',
    kubelet_cgroup_manager_duration_seconds: 'histogram',
    kubelet_evictions: 'counter',
    kubelet_preemptions: 'counter',
    kubelet_image_garbage_collected_total: 'counter',
    kubelet_http_inflight_requests: 'gauge',
    kubelet_certificate_manager_client_ttl_seconds: 'gauge',
    kubelet_certificate_manager_client_expiration_renew_errors: 'counter',
    kubelet_server_expiration_renew_errors: 'counter',
    storage_operation_duration_seconds: 'histogram',
    volume_manager_total_volumes: 'gauge',
    rest_client_requests_total: 'counter',
    process_start_time_seconds: 'gauge',
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, types.get(name)])), expected);
  const buckets = (name: string) => new Set(find(`${name}_bucket`).map((line) => /le="([^"]+)"/.exec(line)?.[1]));
  assert.equal(buckets('kubelet_pod_start_sli_duration_seconds').has('3600'), true);
  assert.deepEqual([...buckets('kubelet_pleg_relist_duration_seconds')].at(0), '0.005');
  assert.equal(buckets('kubelet_runtime_operations_duration_seconds').size, 15);
});

test('metrics/probes: how probes went, until their pod is gone', async () => {
  const { value } = await page('/metrics/probes');
  const of = (pod: string, probe_type: string) => ({ probe_type, container: 'main', pod, namespace: 'default' });
  assert.ok(value('prober_probe_total', { ...of('whole', 'Liveness'), result: 'successful' }) >= 1);
  assert.ok(value('prober_probe_total', { ...of('starts', 'Startup'), result: 'failed' }) >= 1);
  assert.ok(value('prober_probe_duration_seconds_count', of('whole', 'Liveness')) >= 1);
  outputOf(await kubectl('delete pod starts --wait=true'));
  assert.deepEqual((await page('/metrics/probes')).find('prober_probe_total', { pod: 'starts' }), []);
});

test('metrics/resource: a metrics server gets all that it needs of a container, and the node', async () => {
  const { find, value } = await page('/metrics/resource');
  // It drops a container whose CPU time, memory or start it does not find, and rates by the time beside the value.
  const labels = { container: 'main', namespace: 'default', pod: 'whole' };
  for (const name of ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']) {
    const [line = ''] = find(name, labels);
    assert.match(line, /\} \d+(\.\d+)? \d{13}$/, name);
    assert.ok(value(name, labels) > 0, name);
  }
  const ageSeconds = Date.now() / 1000 - value('container_start_time_seconds', labels);
  assert.ok(ageSeconds > 0 && ageSeconds < 120, `${ageSeconds} seconds`);
  for (const name of ['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes']) assert.match(find(name)[0] ?? '', /^\w+ \d+(\.\d+)? \d{13}$/);
  assert.deepEqual(find('container_start_time_seconds', { pod: 'nothing' }), [], 'only what runs');
});

test('metrics/slis: how the checks of health go', async () => {
  assert.equal(await raw('/healthz/syncloop'), 'ok');
  const { value } = await page('/metrics/slis');
  assert.equal(value('kubernetes_healthcheck', { name: 'syncloop', type: 'healthz' }), 1);
  assert.ok(value('kubernetes_healthchecks_total', { name: 'syncloop', type: 'healthz', status: 'success' }) >= 1);
});

/** In plain HTTP, as anybody. */
function plainly(host: string, port: number, path: string): Promise<readonly [status: number, text: string]> {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the read-only port shows some pages to everybody, the health port only health', async () => {
  const open = (path: string) => plainly(kubelet.host, readOnlyPort, path);
  assert.deepEqual(await open('/healthz'), [200, 'ok']);
  assert.equal((await open('/pods'))[0], 200);
  assert.match(
    (await open('/metrics'))[1],
    /^kubelet_http_requests_total\{method="GET",path="pods",server_type="readonly",long_running="false"\} 1$/m,
  );
  for (const path of ['/configz', '/exec/default/whole/main', '/logs/', '/runningpods/']) assert.equal((await open(path))[0], 404, path);
  assert.deepEqual(await plainly('127.0.0.1', healthzPort, '/healthz'), [200, 'ok']);
  assert.deepEqual(await plainly('127.0.0.1', healthzPort, '/healthz/ping'), [200, 'ok']);
  for (const path of ['/pods', '/metrics', '/healthz/log']) assert.equal((await plainly('127.0.0.1', healthzPort, path))[0], 404, path);
});

test('flags and status are text for people and objects for programs, each behind its own right', async () => {
  await apply(
    kubectl,
    { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'reads-status' } },
    {
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'reads-status' },
      rules: [{ apiGroups: [''], resources: ['nodes/statusz'], verbs: ['get'] }],
    },
    {
      kind: 'ClusterRoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'reads-status' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads-status' },
      subjects: [{ kind: 'ServiceAccount', name: 'reads-status', namespace: 'default' }],
    },
  );
  const token = outputOf(await kubectl('create token reads-status')).trim();
  const ask = (path: string, accept: string): Promise<readonly [status: number, text: string]> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, accept };
      const asked = secureRequest({ ...kubelet, path, headers, rejectUnauthorized: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve([response.statusCode ?? 0, text]));
      });
      asked.on('error', reject);
      asked.end();
    });
  assert.match(
    (await ask('/statusz', 'text/plain'))[1],
    /^\nkubelet statusz\nWarning: .*\n\nStarted: .*\nUp: \d+ hr \d\d min \d\d sec\nBinary version: 1\.36/,
  );
  const [status, text] = await ask('/statusz', 'application/json;v=v1alpha1;g=config.k8s.io;as=Statusz');
  const object = JSON.parse(text);
  assert.deepEqual([status, object.kind, object.apiVersion, object.metadata.name], [200, 'Statusz', 'config.k8s.io/v1alpha1', 'kubelet']);
  assert.equal((await ask('/statusz', 'application/json'))[0], 406);
  const forbidden = 'Forbidden (user=system:serviceaccount:default:reads-status, verb=get, resource=nodes, subresource(s)=[configz])\n';
  assert.deepEqual(await ask('/flagz', 'text/plain'), [403, forbidden]);
  assert.match(await raw('/flagz'), /^read-only-port=\d+$/m);
});

test('logs of the host are found by a query, and a query that makes no sense is refused', async () => {
  const asked = async (query: string) => (await kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/logs/?${query}`])).stderr;
  assert.equal(await raw('/logs/?query=no-such-service'), '\nno logs found for "no-such-service"\n');
  assert.match(await asked('query=kubelet&boot=1'), /boot: Invalid value: 1: must be less than 1/);
  assert.match(await asked('query=a%3Bb'), /input contains unsupported characters/);
});

test('the kubelet tells where its time goes', async () => {
  assert.match(await raw('/debug/pprof/cmdline'), /\0/);
  const { nodes, samples } = JSON.parse(await raw('/debug/pprof/profile?seconds=0.5'));
  assert.ok(nodes.length > 0 && samples.length > 0);
});

test('a stream on which nothing is sent ends after the idle time', async () => {
  const startedAt = Date.now();
  await kubectl('exec whole -- sleep 100');
  const tookMs = Date.now() - startedAt;
  assert.ok(tookMs >= 3000 && tookMs < 30_000, `${tookMs} ms`);
  const talked = await kubectl(['exec', 'whole', '--', 'sh', '-c', 'for i in 1 2 3 4 5; do echo $i; sleep 1; done']);
  assert.deepEqual([talked.code, talked.stdout], [0, '1\n2\n3\n4\n5\n']);
});
