import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { ipAddress as ipAddressKind } from '#api/kinds/networking/v1/ip-address.ts';
import type { Service } from '#api/types/core-v1.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster({ nodes: 0 });
const { client } = cluster;
const count = 60;

async function controlPlanePid(): Promise<number | undefined> {
  const text = await readFile(cluster.paths.processFile('control-plane'), 'utf8').catch(() => '{}');
  return (JSON.parse(text || '{}') as { pid?: number }).pid;
}

async function killControlPlane(): Promise<void> {
  const pid = await controlPlanePid();
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
  for (let now = await controlPlanePid(); now === undefined || now === pid; now = await controlPlanePid()) await sleep(20);
  await cluster.up(); // returns when it answers
}

for (const delayMs of [30, 90, 150]) {
  test(`the control plane is killed ${delayMs} ms after many Services were asked for: no address and no port has two`, async (t) => {
    const names = Array.from({ length: count }, (_, index) => `after-${delayMs}-${index}`);
    const make = (name: string) => {
      const metadata = { namespace: 'default', name };
      return client.create(serviceKind, { metadata, spec: { type: 'NodePort', ports: [{ port: 80 }] } }, t.signal);
    };
    const asked = Promise.allSettled(names.map(make));
    await sleep(delayMs);
    await killControlPlane();
    const answered = (await asked).flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const before = await stored(t.signal);
    const byName = new Map(before.map((service) => [service.metadata.name, service]));
    for (const service of answered) assert.deepEqual(byName.get(service.metadata.name)?.spec, service.spec, 'what was answered is there');
    await Promise.all(names.filter((name) => !byName.has(name)).map(make));
    const after = await stored(t.signal);
    const ips = after.flatMap(({ spec }) => spec?.clusterIPs ?? []);
    const ports = after.flatMap(({ spec }) => (spec?.ports ?? []).flatMap(({ nodePort }) => nodePort ?? []));
    assert.deepEqual([new Set(ips).size, new Set(ports).size], [ips.length, ports.length]);
    const addresses = new Map((await client.list(ipAddressKind, {}, t.signal)).items.map((address) => [address.metadata.name, address]));
    for (const { metadata, spec } of after) assert.equal(addresses.get(spec?.clusterIP ?? '')?.spec.parentRef.name, metadata.name);
  });
}

async function stored(signal: AbortSignal): Promise<readonly Service[]> {
  return (await client.list(serviceKind, {}, signal)).items;
}
