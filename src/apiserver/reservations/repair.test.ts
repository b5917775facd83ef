import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { kinds } from '#api/kinds/index.ts';
import { ipAddress as ipAddressKind } from '#api/kinds/networking/v1/ip-address.ts';
import type { Service } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import { createObjectReader } from '../registry/object-reader.ts';
import { Registry } from '../registry/registry.ts';
import { inProcessServer } from '../testing/in-process-server.ts';
import { createServiceReservations } from './service-reservations.ts';

const { signal } = new AbortController();
const prefix = '/registry/servicenodeports/';

/** The supplies of another server of the store, whose clock is ahead. */
async function reservationsOn(storage: ReturnType<typeof createMemoryStorage>, aheadMs: number) {
  const stop = new AbortController();
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const registry = new Registry(storage, kinds, clock, silentLogger);
  const running = registry.run(stop.signal);
  await registry.upToDate(signal);
  const context = { registry, objects: createObjectReader(registry), clock, logger: silentLogger, newUid: randomUUID };
  return {
    registry,
    reservations: createServiceReservations(context, ['IPv4']),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test('the repair gives back what no Service has, when it is old, and reserves what a Service has without', async () => {
  const storage = createMemoryStorage(systemClock);
  await using api = await inProcessServer({ storage, serviceCIDRs: ['10.96.0.0/24'] });
  const url = '/api/v1/namespaces/default/services';
  const spec = (last: number) => ({ type: 'NodePort', clusterIP: `10.96.0.${last}`, ports: [{ port: 80, nodePort: 30_000 + last }] });
  const kept: Service = (await api.call('POST', url, { body: { metadata: { name: 'kept' }, spec: spec(1) } })).body;
  assert.deepEqual(kept.spec?.clusterIP, '10.96.0.1');
  const held = async () => {
    const { entries } = await storage.range(prefix, { revision: 0, limit: 0, after: '' }, signal);
    const { body } = await api.call('GET', '/apis/networking.k8s.io/v1/ipaddresses');
    return {
      ips: body.items.map(({ metadata }: Service) => metadata.name),
      ports: entries.map(({ key }) => Number(key.slice(prefix.length))),
    };
  };
  {
    await using soon = await reservationsOn(storage, 0);
    const half = { ...kept, metadata: { ...kept.metadata, name: 'half' }, spec: { ...kept.spec, ...spec(2), clusterIPs: ['10.96.0.2'] } };
    const writer = { user: { name: 'x', uid: '', groups: [], extra: {} }, isDryRun: false, fieldManager: 'x', warn: () => undefined };
    await soon.reservations.reserve(half, undefined, writer, signal); // and no Service follows
    const lost = soon.registry.index(ipAddressKind).get('10.96.0.1') ?? assert.fail();
    await soon.registry.delete(ipAddressKind, lost.key, lost.revision, signal);
    const record = (await storage.get(`${prefix}30001`, signal)) ?? assert.fail();
    await storage.commit({ key: record.key, expectedRevision: record.modRevision, value: undefined, leaseId: 0 }, signal);
    await soon.reservations.repair(signal);
    assert.deepEqual(await held(), { ips: ['10.96.0.1', '10.96.0.2'], ports: [30_001, 30_002] });
  }
  const own = { metadata: { name: '10.96.0.9' }, spec: { parentRef: { resource: 'pods', name: 'p' } } };
  assert.equal((await api.call('POST', '/apis/networking.k8s.io/v1/ipaddresses', { body: own })).status, 201);
  await using later = await reservationsOn(storage, 61_000);
  await later.reservations.repair(signal);
  assert.deepEqual(await held(), { ips: ['10.96.0.1', '10.96.0.9'], ports: [30_001] });
});
