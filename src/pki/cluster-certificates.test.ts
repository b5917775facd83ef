import assert from 'node:assert/strict';
import { createPublicKey, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { parse } from 'yaml';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createAuthority, issueCertificate, YEAR_MS } from './certificate.ts';
import { clusterCertificates } from './cluster-certificates.ts';
import { kubeconfig } from './kubeconfig.ts';
import { certificateCovers, isIssuedBy, needsRenewal } from './renewal.ts';
import { createServiceAccountKey } from './service-account-key.ts';

const clock = new FakeClock();
const authority = await createAuthority({ commonName: 'kubernetes', clock });
const subjects = clusterCertificates({ nodeName: 'node-1', hostAddresses: ['192.0.2.7', '127.0.0.1'], firstServiceAddress: '10.96.0.1' });

test('each certificate of a cluster stands for the user and the groups that upstream gives its bearer', () => {
  const users = Object.fromEntries(Object.entries(subjects).map(([name, subject]) => [name, [subject.commonName, ...subject.organizations]]));
  assert.deepEqual(users, {
    apiserver: ['kube-apiserver'],
    admin: ['kubernetes-admin', 'system:masters'],
    scheduler: ['system:kube-scheduler'],
    controllers: ['system:kube-controller-manager'],
    'kubelet-client': ['system:node:node-1', 'system:nodes'],
    'kubelet-server': ['system:node:node-1', 'system:nodes'],
    'apiserver-kubelet-client': ['kube-apiserver-kubelet-client'],
  });
});

test('the API server is reachable under every name that a pod or a user knows it by', async () => {
  const { certPem } = await issueCertificate({ ...subjects.apiserver, authority, clock, validMs: YEAR_MS });
  const names = { dnsNames: ['localhost', 'kubernetes.default.svc.cluster.local'], ipAddresses: ['::1', '192.0.2.7', '10.96.0.1'] };
  assert.equal(certificateCovers(certPem, names), true);
  assert.equal(certificateCovers(certPem, { dnsNames: [], ipAddresses: ['192.0.2.8'] }), false);
  assert.equal(certificateCovers(certPem, { dnsNames: ['kube-apiserver'], ipAddresses: [] }), false);
});

test('a certificate is renewed after four fifths of its time', async () => {
  const { certPem } = await issueCertificate({ ...subjects.admin, authority, clock, validMs: 100_000_000 });
  assert.equal(needsRenewal(certPem, clock.now() + 79_000_000), false);
  assert.equal(needsRenewal(certPem, clock.now() + 81_000_000), true);
  assert.equal(needsRenewal(certPem, clock.now() + 101_000_000), true);
});

test('a certificate is told from one of an authority of the same name', async () => {
  const { certPem } = await issueCertificate({ ...subjects.admin, authority, clock, validMs: YEAR_MS });
  const stranger = await createAuthority({ commonName: 'kubernetes', clock });
  assert.equal(isIssuedBy(certPem, authority.certPem), true);
  assert.equal(isIssuedBy(certPem, stranger.certPem), false);
});

test('a kubeconfig carries everything inline, whatever the names are', () => {
  const text = kubeconfig({ server: 'https://127.0.0.1:6443', caPem: 'CA', certPem: 'CERT', keyPem: 'KEY', clusterName: 'a: "b"', user: 'me' });
  const base64 = (value: string) => Buffer.from(value).toString('base64');
  assert.deepEqual(parse(text), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a: "b"', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': base64('CA') } }],
    users: [{ name: 'me', user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') } }],
    contexts: [{ name: 'me@a: "b"', context: { cluster: 'a: "b"', user: 'me' } }],
    'current-context': 'me@a: "b"',
    preferences: {},
  });
});

test('what the private half of a service-account key signs, the public half proves', () => {
  const { privateKeyPem, publicKeyPem } = createServiceAccountKey();
  const signature = sign('sha256', Buffer.from('claims'), privateKeyPem);
  assert.equal(verify('sha256', Buffer.from('claims'), createPublicKey(publicKeyPem), signature), true);
});
