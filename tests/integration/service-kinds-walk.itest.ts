import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '#api/kinds/core/v1/endpoints.ts';
import { limitRange } from '#api/kinds/core/v1/limit-range.ts';
import { resourceQuota } from '#api/kinds/core/v1/resource-quota.ts';
import { service } from '#api/kinds/core/v1/service.ts';
import { endpointSlice } from '#api/kinds/discovery/v1/endpoint-slice.ts';
import { ingress } from '#api/kinds/networking/v1/ingress.ts';
import { ingressClass } from '#api/kinds/networking/v1/ingress-class.ts';
import { ipAddress } from '#api/kinds/networking/v1/ip-address.ts';
import { networkPolicy } from '#api/kinds/networking/v1/network-policy.ts';
import { serviceCidr } from '#api/kinds/networking/v1/service-cidr.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { type ApiWalk, walkApi } from '../support/api-walk.ts';

const condition = { type: 'Walked', status: 'True', reason: 'Test', message: 'unknown types stay', lastTransitionTime: '2030-01-01T00:00:00Z' };

const walks: readonly ApiWalk[] = [
  {
    kind: service,
    manifest: { spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] } },
    fieldSelector: 'spec.type=LoadBalancer',
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] }, conditions: [condition] },
  },
  { kind: endpoints, manifest: { subsets: [{ addresses: [{ ip: '10.0.0.24' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }] } },
  { kind: endpointSlice, manifest: { addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4', '5.6.7.8'] }] } },
  {
    kind: ingress,
    manifest: { spec: { defaultBackend: { service: { name: 'default-backend', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ ip: '169.1.1.1' }] } },
  },
  { kind: ingressClass, manifest: { spec: { controller: 'example.com/controller' } } },
  { kind: networkPolicy, manifest: { spec: { podSelector: { matchLabels: { 'pod-name': 'test-pod' } }, ingress: [{}] } } },
  { kind: limitRange, manifest: { spec: { limits: [{ type: 'Container', max: { cpu: '500m' }, defaultRequest: { cpu: '50m' } }] } } },
  { kind: resourceQuota, manifest: { spec: { hard: { cpu: '500m', memory: '500Mi' } } }, status: { hard: { cpu: '1' }, used: { cpu: '500m' } } },
  { kind: serviceCidr, manifest: { spec: { cidrs: ['10.196.196.0/24'] } }, status: { conditions: [condition] } },
  {
    kind: ipAddress,
    manifest: (index) => ({
      metadata: { name: `192.168.6.${index + 1}` },
      spec: { parentRef: { group: '', resource: 'foo', namespace: 'bar', name: 'x' } },
    }),
  },
];

/** Kinds of which a PUT to a name that is not there makes one, and those whose delete answers with the object. */
const created = new Set(['services', 'endpoints', 'limitranges']);
const answered = new Set(['services', 'resourcequotas']);

for (const { kind, manifest } of walks) {
  test(`what a PUT and a DELETE of ${kind.plural} answer`, async () => {
    await using api = await inProcessServer();
    const name = kind.plural === 'ipaddresses' ? '192.168.6.1' : 'put';
    const root = kind.group === '' ? '/api/v1' : `/apis/${kind.group}/${kind.version}`;
    const own = kind.scope === 'Namespaced' ? `${root}/namespaces/default/${kind.plural}` : `${root}/${kind.plural}`;
    const body = { ...(typeof manifest === 'function' ? manifest(0) : manifest), metadata: { name } };
    const put = await api.call('PUT', `${own}/${name}`, { body });
    assert.equal(put.status, created.has(kind.plural) ? 201 : 404);
    if (put.status === 404) assert.equal((await api.call('POST', own, { body })).status, 201);
    const deleted = await api.call('DELETE', `${own}/${name}`);
    assert.equal(deleted.body.kind, answered.has(kind.plural) ? kind.kind : 'Status');
    if (!answered.has(kind.plural)) assert.equal(deleted.body.details.kind, kind.plural);
  });
}

for (const walk of walks) {
  test(`an API walk through ${walk.kind.plural}`, { timeout: 20_000 }, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
