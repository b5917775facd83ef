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

for (const walk of walks) {
  test(`an API walk through ${walk.kind.plural}`, { timeout: 20_000 }, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
