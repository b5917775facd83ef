import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { type NamedService, serviceVariables } from './service-variables.ts';

function service(name: string, clusterIP: string, ports: NonNullable<NamedService['spec']>['ports'], namespace = 'default'): NamedService {
  return { metadata: { name, namespace } as NamedService['metadata'], spec: { clusterIP, ports } };
}

const kubernetes = service('kubernetes', '10.96.0.1', [{ name: 'https', port: 443, protocol: 'TCP' }]);
const inShop = (name: string, clusterIP = '10.96.0.7') => service(name, clusterIP, [{ port: 80 }], 'shop');
const named = (pod: Parameters<typeof aPod>[0], services: readonly NamedService[], linked = true) =>
  Object.fromEntries(serviceVariables(aPod(pod), services, linked));

test('a Service is told with its host, its ports by number and by name, and docker’s links', () => {
  const foo = service('foo-bar', '10.96.0.9', [
    { name: 'web-ui', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ]);
  assert.deepEqual(named({}, [foo]), {
    FOO_BAR_SERVICE_HOST: '10.96.0.9',
    FOO_BAR_SERVICE_PORT: '80',
    FOO_BAR_SERVICE_PORT_WEB_UI: '80',
    FOO_BAR_SERVICE_PORT_DNS: '53',
    FOO_BAR_PORT: 'tcp://10.96.0.9:80',
    FOO_BAR_PORT_80_TCP: 'tcp://10.96.0.9:80',
    FOO_BAR_PORT_80_TCP_PROTO: 'tcp',
    FOO_BAR_PORT_80_TCP_PORT: '80',
    FOO_BAR_PORT_80_TCP_ADDR: '10.96.0.9',
    FOO_BAR_PORT_53_UDP: 'udp://10.96.0.9:53',
    FOO_BAR_PORT_53_UDP_PROTO: 'udp',
    FOO_BAR_PORT_53_UDP_PORT: '53',
    FOO_BAR_PORT_53_UDP_ADDR: '10.96.0.9',
  });
});

test('a pod is told of the Services of its namespace and of the API server; without links of the API server alone', () => {
  const hosts = (linked: boolean) =>
    Object.keys(named({ metadata: { namespace: 'shop' } }, [inShop('db'), kubernetes, service('other', '10.96.0.3', [{ port: 1 }])], linked)).filter(
      (name) => name.endsWith('_HOST'),
    );
  assert.deepEqual(hosts(true).sort(), ['DB_SERVICE_HOST', 'KUBERNETES_SERVICE_HOST']);
  assert.deepEqual(hosts(false), ['KUBERNETES_SERVICE_HOST']);
});

test('a Service of the pod’s own namespace that is called kubernetes takes the place of the API server', () => {
  const pod = { metadata: { namespace: 'shop' } };
  for (const services of [
    [kubernetes, inShop('kubernetes')],
    [inShop('kubernetes'), kubernetes],
  ])
    assert.equal(named(pod, services)['KUBERNETES_SERVICE_HOST'], '10.96.0.7');
});

test('a Service without an address of the cluster is not told; an IPv6 address stands in brackets where a port follows', () => {
  assert.deepEqual(named({ metadata: { namespace: 'shop' } }, [inShop('headless', 'None'), inShop('external', '')]), {});
  const six = named({}, [service('six', 'fd00::1', [{ port: 80 }])]);
  assert.deepEqual([six['SIX_SERVICE_HOST'], six['SIX_PORT'], six['SIX_PORT_80_TCP_ADDR']], ['fd00::1', 'tcp://[fd00::1]:80', 'fd00::1']);
});
