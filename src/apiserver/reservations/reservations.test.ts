import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';
import type { IPAddress } from '#api/types/networking-v1.ts';
import { systemClock } from '#base/clock.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import type { Storage } from '#store/storage.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const url = '/api/v1/namespaces/default/services';
const serviceCIDRs = ['10.96.0.0/16'];
const ports = [{ port: 80 }];
const aService = (name: string, spec: ServiceSpec = {}) => ({ metadata: { name }, spec: { ports, ...spec } });

async function created(api: InProcessServer, name: string, spec: ServiceSpec = {}): Promise<Service> {
  const { status, body } = await api.call('POST', url, { body: aService(name, spec) });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function patched(api: InProcessServer, name: string, spec: object): Promise<Service> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { status, body } = await api.call('PATCH', `${url}/${name}`, { body: { spec }, headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function refused(api: InProcessServer, spec: ServiceSpec): Promise<string> {
  const { status, body } = await api.call('POST', url, { body: aService('x', spec) });
  assert.notEqual(status, 201);
  return `${status} ${body.message}`;
}

async function addresses(api: InProcessServer): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/apis/networking.k8s.io/v1/ipaddresses');
  return body.items.map((item: IPAddress) => item.metadata.name);
}

async function heldPorts(storage: Storage): Promise<readonly number[]> {
  const prefix = '/registry/servicenodeports/';
  const { entries } = await storage.range(prefix, { revision: 0, limit: 0, after: '' }, new AbortController().signal);
  return entries.map(({ key }) => Number(key.slice(prefix.length)));
}

const nodePorts = ({ spec }: Service) => (spec?.ports ?? []).map(({ nodePort }) => nodePort);

test('a Service gets an address, an IPAddress says whose it is, and both go together', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { spec, status } = await created(api, 'a');
  assert.match(spec?.clusterIP ?? '', /^10\.96\.\d+\.\d+$/);
  assert.deepEqual([spec?.clusterIPs, spec?.ipFamilies, spec?.ipFamilyPolicy], [[spec?.clusterIP], ['IPv4'], 'SingleStack']);
  assert.deepEqual(status, { loadBalancer: {} });
  const { body } = await api.call('GET', `/apis/networking.k8s.io/v1/ipaddresses/${spec?.clusterIP}`);
  assert.deepEqual(body.spec, { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'a' } });
  assert.deepEqual(body.metadata.labels, {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  });
  const deleted = await api.call('DELETE', `${url}/a`);
  assert.equal(deleted.body.kind, 'Service');
  assert.deepEqual(await addresses(api), []);
});

test('the range of the server is a ServiceCIDR that is ready', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { body } = await api.call('GET', '/apis/networking.k8s.io/v1/servicecidrs/kubernetes');
  assert.deepEqual(body.spec, { cidrs: serviceCIDRs });
  const [{ type, status, message }] = body.status.conditions;
  assert.deepEqual([type, status, message], ['Ready', 'True', 'Kubernetes default Service CIDR is ready']);
});

test('many Services at once, through two servers of one store, get an address and a port each', async () => {
  const storage = createMemoryStorage(systemClock);
  await using one = await inProcessServer({ serviceCIDRs: ['10.96.0.0/24'], storage });
  await using two = await inProcessServer({ serviceCIDRs: ['10.96.0.0/24'], storage });
  const all = await Promise.all(Array.from({ length: 100 }, (_, index) => created(index % 2 === 0 ? one : two, `s${index}`, { type: 'NodePort' })));
  assert.equal(new Set(all.map(({ spec }) => spec?.clusterIP)).size, 100);
  assert.equal(new Set(all.flatMap(nodePorts)).size, 100);
  assert.deepEqual([...(await addresses(two))].sort(), all.map(({ spec }) => spec?.clusterIP ?? '').sort());
});

test('a full range is an error of the server, and one that is given back can be had again', async () => {
  await using api = await inProcessServer({ serviceCIDRs: ['10.96.0.0/30'] });
  const [first] = [await created(api, 'a'), await created(api, 'b')];
  assert.equal(await refused(api, {}), '500 Internal error occurred: failed to allocate a serviceIP for Service "x": range is full');
  await api.call('DELETE', `${url}/a`);
  assert.equal((await created(api, 'c')).spec?.clusterIP, first.spec?.clusterIP);
});

test('another range helps when it is ready', async () => {
  await using api = await inProcessServer({ serviceCIDRs: ['10.96.0.0/32'] });
  const cidrs = '/apis/networking.k8s.io/v1/servicecidrs';
  const { body } = await api.call('POST', cidrs, { body: { metadata: { name: 'more' }, spec: { cidrs: ['10.97.0.0/28'] } } });
  assert.match(await refused(api, {}), /range is full$/);
  const conditions = [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  await api.call('PUT', `${cidrs}/more/status`, { body: { ...body, status: { conditions } } });
  assert.match((await created(api, 'a')).spec?.clusterIP ?? '', /^10\.97\.0\./);
});

test('an address that is asked for is had, or it is said why not', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  assert.equal((await created(api, 'a', { clusterIP: '10.96.0.10' })).spec?.clusterIP, '10.96.0.10');
  const said = (ip: string, why: string) =>
    `422 Service "x" is invalid: spec.clusterIPs: Invalid value: ["${ip}"]: failed to allocate IP ${ip}: ${why}`;
  assert.equal(await refused(api, { clusterIP: '10.96.0.10' }), said('10.96.0.10', 'provided IP is already allocated'));
  assert.equal(await refused(api, { clusterIP: '10.97.0.1' }), said('10.97.0.1', 'the provided network does not match the current range'));
  const valid = 'The range of valid IPs is 10.96.0.0/16';
  assert.equal(await refused(api, { clusterIP: '10.96.0.0' }), said('10.96.0.0', `the provided IP (10.96.0.0) is not in the valid range. ${valid}`));
  assert.deepEqual(await addresses(api), ['10.96.0.10']);
});

test('families are those of the cluster', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const start = '422 Service "x" is invalid: ';
  assert.equal(await refused(api, { ipFamilies: ['IPv6'] }), `${start}spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`);
  assert.equal(
    await refused(api, { clusterIP: 'fd00::1' }),
    `${start}spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster`,
  );
  assert.equal(
    await refused(api, { ipFamilyPolicy: 'RequireDualStack' }),
    `${start}spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
  );
  assert.equal(
    await refused(api, { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] }),
    `${start}spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
  );
  assert.deepEqual((await created(api, 'a', { ipFamilyPolicy: 'PreferDualStack' })).spec?.ipFamilies, ['IPv4']);
});

test('a headless Service has no address; without a selector it has every family', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const selected = (await created(api, 'a', { clusterIP: 'None', selector: { a: 'b' } })).spec;
  assert.deepEqual([selected?.clusterIPs, selected?.ipFamilies, selected?.ipFamilyPolicy], [['None'], ['IPv4'], 'SingleStack']);
  const free = (await created(api, 'b', { clusterIP: 'None' })).spec;
  assert.deepEqual([free?.clusterIPs, free?.ipFamilies, free?.ipFamilyPolicy], [['None'], ['IPv4', 'IPv6'], 'RequireDualStack']);
  assert.deepEqual(await addresses(api), []);
});

test('a cluster of two families gives one or both, and takes the second back', async () => {
  await using api = await inProcessServer({ serviceCIDRs: ['10.96.0.0/16', 'fd00:96::/108'] });
  assert.equal((await created(api, 'one')).spec?.clusterIPs?.length, 1);
  const both = (await created(api, 'both', { ipFamilyPolicy: 'RequireDualStack' })).spec;
  assert.deepEqual(both?.ipFamilies, ['IPv4', 'IPv6']);
  assert.match(both?.clusterIPs?.[1] ?? '', /^fd00:96::/);
  const released = (await patched(api, 'both', { ipFamilyPolicy: 'SingleStack' })).spec;
  assert.deepEqual([released?.clusterIPs, released?.ipFamilies], [[both?.clusterIP], ['IPv4']]);
  assert.equal((await addresses(api)).length, 2);
  const upgraded = (await patched(api, 'one', { ipFamilyPolicy: 'PreferDualStack' })).spec;
  assert.deepEqual([upgraded?.ipFamilies, upgraded?.clusterIPs?.length], [['IPv4', 'IPv6'], 2]);
});

test('node ports are of the range, one number for one Service', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const [port] = nodePorts(await created(api, 'a', { type: 'NodePort' }));
  assert.ok(port !== undefined && port >= 30_086 && port <= 32_767, String(port));
  assert.deepEqual(nodePorts(await created(api, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] })), [30_000]);
  const start = '422 Service "x" is invalid: spec.ports[0].nodePort: Invalid value: ';
  const udp = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000, protocol: 'UDP' }] };
  assert.equal(await refused(api, udp), `${start}30000: provided port is already allocated`);
  assert.equal(
    await refused(api, { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    `${start}80: provided port is not in the valid range. The range of valid ports is 30000-32767`,
  );
  assert.deepEqual((await heldPorts(api.storage)).length, 2);
});

test('given TCP and UDP port 53 in one NodePort Service, when created, then both get the same node port', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const dns = [
    { name: 'tcp', port: 53 },
    { name: 'udp', port: 53, protocol: 'UDP' },
    { name: 'other', port: 54 },
  ];
  const [tcp, udp, other] = nodePorts(await created(api, 'a', { type: 'NodePort', ports: dns }));
  assert.equal(tcp, udp);
  assert.notEqual(tcp, other);
});

test('a load balancer may do without node ports, and has one for its health with a local policy', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  assert.deepEqual(nodePorts(await created(api, 'a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })), [undefined]);
  const { spec } = await created(api, 'b', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  const health = spec?.healthCheckNodePort ?? 0;
  assert.ok(health >= 30_000 && health <= 32_767);
  assert.equal((await heldPorts(api.storage)).length, 2);
  assert.equal(
    await refused(api, { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: health }),
    `500 Internal error occurred: failed to allocate requested HealthCheck NodePort ${health}: provided port is already allocated`,
  );
  assert.equal((await patched(api, 'b', { externalTrafficPolicy: 'Cluster' })).spec?.healthCheckNodePort, undefined);
  assert.equal((await heldPorts(api.storage)).length, 1);
});

test('a type change takes what is needed and gives back what is not', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { spec } = await created(api, 'a');
  const [port] = nodePorts(await patched(api, 'a', { type: 'NodePort' }));
  assert.deepEqual(await heldPorts(api.storage), [port]);
  assert.deepEqual(nodePorts(await patched(api, 'a', { type: 'LoadBalancer' })), [port]);
  assert.deepEqual(nodePorts(await patched(api, 'a', { type: 'ClusterIP' })), [undefined]);
  assert.deepEqual([await heldPorts(api.storage), await addresses(api)], [[], [spec?.clusterIP]]);
  assert.equal((await patched(api, 'a', { type: 'ExternalName', externalName: 'a.b' })).spec?.clusterIP, undefined);
  assert.deepEqual(await addresses(api), []);
  const back = await patched(api, 'a', { type: 'ClusterIP', externalName: null });
  assert.deepEqual(await addresses(api), [back.spec?.clusterIP]);
});

test('30. Given a Service PUT without clusterIP, then the old clusterIP and nodePorts are kept', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const before = await created(api, 'a', { type: 'NodePort' });
  const { status, body } = await api.call('PUT', `${url}/a`, { body: aService('a', { type: 'NodePort', ports: [{ port: 8080 }] }) });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.spec.clusterIP, nodePorts(body)], [before.spec?.clusterIP, nodePorts(before)]);
  assert.equal(body.spec.ports[0].port, 8080);
});

test('a PUT creates a Service that is not there', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { status, body } = await api.call('PUT', `${url}/a`, { body: aService('a') });
  assert.equal(status, 201);
  assert.deepEqual(await addresses(api), [body.spec.clusterIP]);
});

test('a dry run takes nothing', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const health = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const { status, body } = await api.call('POST', `${url}?dryRun=All`, { body: aService('a', health) });
  assert.equal(status, 201);
  assert.deepEqual([body.spec.clusterIP, nodePorts(body), body.spec.healthCheckNodePort], ['10.96.0.0', [32_769], 32_770]);
  await created(api, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] });
  const taken = await api.call('POST', `${url}?dryRun=All`, { body: aService('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] }) });
  assert.equal(taken.status, 422);
  await api.call('DELETE', `${url}/b?dryRun=All`);
  assert.deepEqual([(await addresses(api)).length, await heldPorts(api.storage)], [1, [30_000]]);
});

test('what is not stored gives back what it took', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { spec } = await created(api, 'a', { type: 'NodePort' });
  const again = await api.call('POST', url, { body: aService('a', { type: 'NodePort' }) });
  assert.equal(again.body.message, 'services "a" already exists');
  const half = {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2, nodePort: 80 },
    ],
  };
  assert.match(await refused(api, half), /spec.ports\[1\].nodePort/);
  assert.deepEqual([await addresses(api), (await heldPorts(api.storage)).length], [[spec?.clusterIP], 1]);
});

test('a finalizer keeps what a Service holds until the Service is gone', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const metadata = { name: 'a', finalizers: ['service.kubernetes.io/load-balancer-cleanup'] };
  await api.call('POST', url, { body: { metadata, spec: { type: 'NodePort', ports } } });
  await api.call('DELETE', `${url}/a`);
  assert.deepEqual([(await addresses(api)).length, (await heldPorts(api.storage)).length], [1, 1]);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await api.call('PATCH', `${url}/a`, { body: { metadata: { finalizers: null } }, headers });
  assert.deepEqual([await addresses(api), await heldPorts(api.storage)], [[], []]);
});

test('deleting a Service deletes the Endpoints of its name', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  await created(api, 'a');
  const endpoints = '/api/v1/namespaces/default/endpoints';
  for (const name of ['a', 'b']) await api.call('POST', endpoints, { body: { metadata: { name } } });
  await api.call('DELETE', `${url}/a`);
  const { body } = await api.call('GET', endpoints);
  assert.deepEqual(
    body.items.map(({ metadata }: Service) => metadata.name),
    ['b'],
  );
});

test('deletecollection gives everything back', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  for (const name of ['a', 'b']) await created(api, name, { type: 'NodePort' });
  await api.call('DELETE', url);
  assert.deepEqual([await addresses(api), await heldPorts(api.storage)], [[], []]);
});

test('a write of the status, of labels or of nothing takes and gives nothing', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const before = await created(api, 'a', { type: 'LoadBalancer' });
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
  const { body } = await api.call('PUT', `${url}/a/status`, { body: { ...before, status } });
  assert.deepEqual(body.status, { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] } });
  assert.deepEqual(body.spec, before.spec);
  const same = await api.call('PUT', `${url}/a`, { body });
  assert.equal(same.body.metadata.resourceVersion, body.metadata.resourceVersion);
  assert.deepEqual([(await addresses(api)).length, (await heldPorts(api.storage)).length], [1, 1]);
});

test('what a crash left is free again after a minute', async () => {
  const storage = createMemoryStorage(systemClock);
  const spec = { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] };
  {
    // A server that ends between the reservation and the Service: its store takes everything but Services.
    const broken: Storage = {
      revision: () => storage.revision(),
      get: (key, signal) => storage.get(key, signal),
      range: (prefix, options, signal) => storage.range(prefix, options, signal),
      watch: (prefix, fromRevision, signal) => storage.watch(prefix, fromRevision, signal),
      compact: (revision, signal) => storage.compact(revision, signal),
      grantLease: (ttlSeconds, signal) => storage.grantLease(ttlSeconds, signal),
      keepLeaseAlive: (leaseId, signal) => storage.keepLeaseAlive(leaseId, signal),
      revokeLease: (leaseId, signal) => storage.revokeLease(leaseId, signal),
      commit: (write, signal) => {
        const isLost = write.key.startsWith('/registry/services/specs/') || write.value === undefined;
        return isLost ? Promise.reject(new Error('killed')) : storage.commit(write, signal);
      },
      close: () => Promise.resolve(),
    };
    await using crashed = await inProcessServer({ serviceCIDRs, storage: broken });
    assert.equal((await crashed.call('POST', url, { body: aService('a', spec) })).status, 500);
    assert.deepEqual([await addresses(crashed), await heldPorts(storage)], [['10.96.0.10'], [30_000]]);
  }
  let offsetMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
  await using api = await inProcessServer({ serviceCIDRs, storage }, clock);
  assert.match(await refused(api, spec), /provided IP is already allocated$/);
  assert.match(await refused(api, { ...spec, clusterIP: '' }), /provided port is already allocated$/);
  offsetMs = 61_000;
  assert.equal((await created(api, 'a', spec)).spec?.clusterIP, '10.96.0.10');
});
