import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { serviceCidr as serviceCidrKind } from '#api/kinds/networking/v1/service-cidr.ts';
import type { ServiceCIDR } from '#api/types/networking-v1.ts';
import { eventually, startControlPlane } from '../support/control-plane.ts';

const readiness = (cidr: ServiceCIDR | undefined) => cidr?.status?.conditions?.find(({ type }) => type === 'Ready');

test('another range gives addresses once it is ready, and stays while one of them is in use', { timeout: 20_000 }, async (t) => {
  const { admin } = await startControlPlane(t, { timings: { serviceCidrGraceMs: 100 } });
  const more = { name: 'more' };
  const until = (accept: (cidr: ServiceCIDR | undefined) => boolean) => eventually(admin, serviceCidrKind, more, accept, t.signal);
  await admin.create(serviceCidrKind, { metadata: more, spec: { cidrs: ['10.200.0.0/28'] } }, t.signal);
  assert.equal(readiness(await until((cidr) => readiness(cidr)?.status === 'True'))?.message, 'Kubernetes Service CIDR is ready');
  const ref = { namespace: 'default', name: 'web' };
  const created = await admin.create(serviceKind, { metadata: ref, spec: { clusterIP: '10.200.0.3', ports: [{ port: 80 }] } }, t.signal);
  assert.equal(created.spec?.clusterIP, '10.200.0.3');
  await admin.delete(serviceCidrKind, more, {}, t.signal);
  assert.equal(readiness(await until((cidr) => readiness(cidr)?.status === 'False'))?.reason, 'Terminating');
  await admin.delete(serviceKind, ref, {}, t.signal);
  await until((cidr) => cidr === undefined);
});
