import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '#api/types/core-v1.ts';
import { inProcessServer } from '../testing/in-process-server.ts';
import { addresses, aService, created, heldPorts, nodePorts, patched, ports, refused, serviceCIDRs, servicesUrl } from './testing/services.ts';

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
  const { status, body } = await api.call('PUT', `${servicesUrl}/a`, { body: aService('a', { type: 'NodePort', ports: [{ port: 8080 }] }) });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.spec.clusterIP, nodePorts(body)], [before.spec?.clusterIP, nodePorts(before)]);
  assert.equal(body.spec.ports[0].port, 8080);
});

test('a PUT creates a Service that is not there', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { status, body } = await api.call('PUT', `${servicesUrl}/a`, { body: aService('a') });
  assert.equal(status, 201);
  assert.deepEqual(await addresses(api), [body.spec.clusterIP]);
});

test('a dry run takes nothing', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const health = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const { status, body } = await api.call('POST', `${servicesUrl}?dryRun=All`, { body: aService('a', health) });
  assert.equal(status, 201);
  assert.deepEqual([body.spec.clusterIP, nodePorts(body), body.spec.healthCheckNodePort], ['10.96.0.0', [32_769], 32_770]);
  await created(api, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] });
  const taken = await api.call('POST', `${servicesUrl}?dryRun=All`, {
    body: aService('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] }),
  });
  assert.equal(taken.status, 422);
  await api.call('DELETE', `${servicesUrl}/b?dryRun=All`);
  assert.deepEqual([(await addresses(api)).length, await heldPorts(api.storage)], [1, [30_000]]);
});

test('what is not stored gives back what it took', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const { spec } = await created(api, 'a', { type: 'NodePort' });
  const again = await api.call('POST', servicesUrl, { body: aService('a', { type: 'NodePort' }) });
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
  await api.call('POST', servicesUrl, { body: { metadata, spec: { type: 'NodePort', ports } } });
  await api.call('DELETE', `${servicesUrl}/a`);
  assert.deepEqual([(await addresses(api)).length, (await heldPorts(api.storage)).length], [1, 1]);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await api.call('PATCH', `${servicesUrl}/a`, { body: { metadata: { finalizers: null } }, headers });
  assert.deepEqual([await addresses(api), await heldPorts(api.storage)], [[], []]);
});

test('deleting a Service deletes the Endpoints of its name', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  await created(api, 'a');
  const endpoints = '/api/v1/namespaces/default/endpoints';
  for (const name of ['a', 'b']) await api.call('POST', endpoints, { body: { metadata: { name } } });
  await api.call('DELETE', `${servicesUrl}/a`);
  const { body } = await api.call('GET', endpoints);
  assert.deepEqual(
    body.items.map(({ metadata }: Service) => metadata.name),
    ['b'],
  );
});

test('deletecollection gives everything back', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  for (const name of ['a', 'b']) await created(api, name, { type: 'NodePort' });
  await api.call('DELETE', servicesUrl);
  assert.deepEqual([await addresses(api), await heldPorts(api.storage)], [[], []]);
});

test('a write of the status, of labels or of nothing takes and gives nothing', async () => {
  await using api = await inProcessServer({ serviceCIDRs });
  const before = await created(api, 'a', { type: 'LoadBalancer' });
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
  const { body } = await api.call('PUT', `${servicesUrl}/a/status`, { body: { ...before, status } });
  assert.deepEqual(body.status, { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] } });
  assert.deepEqual(body.spec, before.spec);
  const same = await api.call('PUT', `${servicesUrl}/a`, { body });
  assert.equal(same.body.metadata.resourceVersion, body.metadata.resourceVersion);
  assert.deepEqual([(await addresses(api)).length, (await heldPorts(api.storage)).length], [1, 1]);
});
