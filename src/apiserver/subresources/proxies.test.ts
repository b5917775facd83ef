import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import { aPod } from '#api/testing/objects.ts';
import type { PodStatus, Service } from '#api/types/core-v1.ts';
import type { EndpointSlice } from '#api/types/discovery-v1.ts';
import { podTarget } from './pod-proxy.ts';
import { rewriteLinks, rewriteLocation } from './proxied-links.ts';
import { backendUrl } from './proxy.ts';
import { backendsOfEndpoints, backendsOfSlices, portName } from './service-proxy.ts';

const base = { prefix: '/api/v1/namespaces/default/pods/web/proxy', hosts: ['10.0.0.7:80', 'localhost:8001'] };
const saying = (code: number, message: string) => (error: unknown) => {
  assert.ok(error instanceof StatusError);
  assert.deepEqual([error.status.code, error.status.message], [code, message]);
  return true;
};

test('links of a page lead through the proxy, those of others and relative ones stay', () => {
  assert.equal(
    rewriteLinks(
      `<a class="/x" href="/a?b=c">1</a><A HREF='http://10.0.0.7:80/b/'>2</A><img alt="a > b" src="/i.png"><a href="https://example.com/c">3</a><p title="/t">`,
      base,
    ),
    `<a class="/x" href="${base.prefix}/a?b=c">1</a><A HREF='${base.prefix}/b/'>2</A><img alt="a > b" src="${base.prefix}/i.png"><a href="https://example.com/c">3</a><p title="/t">`,
  );
  assert.equal(rewriteLocation('next', base), 'next');
  assert.equal(rewriteLocation('http://localhost:8001', base), `${base.prefix}/`);
  assert.equal(rewriteLocation(`${base.prefix}/a`, base), `${base.prefix}/a`);
  assert.equal(rewriteLocation('//elsewhere/a', base), '//elsewhere/a');
});

test('a pod is reached at its address, at the port that is asked for or the first that it tells', () => {
  const pod = (status: PodStatus) => aPod({ spec: { containers: [{ name: 'a' }, { name: 'b', ports: [{ containerPort: 8080 }] }] }, status });
  const url = (status: PodStatus, asked = { scheme: '', port: '' }) => podTarget(pod(status), { name: 'p', ...asked }).url.href;
  assert.equal(url({ podIPs: [{ ip: '10.0.0.7' }] }), 'http://10.0.0.7:8080/');
  assert.equal(url({ podIP: '10.0.0.7' }, { scheme: 'https', port: '9' }), 'https://10.0.0.7:9/');
  assert.equal(url({ podIPs: [{ ip: 'fd00::7' }] }, { scheme: '', port: '9' }), 'http://[fd00::7]:9/');
  for (const ip of ['', '127.0.0.1', '169.254.1.1', '0.0.0.0', '::1', 'fe80::1', '224.0.0.1']) {
    assert.throws(() => url({ podIP: ip }), saying(400, 'address not allowed'));
  }
});

test('a port cannot lead elsewhere', () => {
  for (const port of ['no port', '80@169.254.169.254', ':secret@10.9.9.9', '80/../..', '80#', '80?a=b', '99999', '+80', '-1']) {
    assert.throws(() => backendUrl('', '10.0.0.7', port), saying(400, `invalid port ${JSON.stringify(port)}`));
  }
});

test('a port of a service is named or numbered, and one that it does not have is told', () => {
  const ports = [{ port: 80, name: 'web' }, { port: 81 }];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { ...aPod().metadata, name: 's' }, spec: { ports } } as Service; // ports alone are read
  const of = (port: string) => portName(service, { scheme: '', name: 's', port });
  assert.deepEqual(['80', '81', 'web', ''].map(of), ['web', '', 'web', '']);
  assert.throws(() => of('82'), saying(503, 'no service port 82 found for service "s"'));
});

test('backends are those that are ready, of the port that is meant', () => {
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...aPod().metadata, namespace: 'default' },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'] },
      { addresses: ['10.0.0.2'], conditions: { ready: false } },
      { addresses: ['10.0.0.3'], conditions: { ready: true } },
    ],
    ports: [{ name: 'web', port: 8080 }],
  };
  assert.deepEqual(backendsOfSlices([slice], 'web'), [
    { address: '10.0.0.1', port: 8080 },
    { address: '10.0.0.3', port: 8080 },
  ]);
  assert.deepEqual(backendsOfSlices([slice], ''), []);
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ port: 8080 }] }];
  const metadata = { ...aPod().metadata, namespace: 'default' };
  assert.deepEqual(backendsOfEndpoints([{ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets }], ''), [{ address: '10.0.0.1', port: 8080 }]);
});
