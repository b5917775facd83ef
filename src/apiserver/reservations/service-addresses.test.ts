import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import type { Storage } from '#store/storage.ts';
import { inProcessServer } from '../testing/in-process-server.ts';
import { addresses, aService, created, heldPorts, nodePorts, patched, refused, serviceCIDRs, servicesUrl } from './testing/services.ts';

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
  const deleted = await api.call('DELETE', `${servicesUrl}/a`);
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
  await api.call('DELETE', `${servicesUrl}/a`);
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
    assert.equal((await crashed.call('POST', servicesUrl, { body: aService('a', spec) })).status, 500);
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
