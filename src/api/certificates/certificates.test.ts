import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CertificateRequestContent, readCertificateRequest } from './certificate-request.ts';
import { kubeletClientProblem, kubeletServingProblem } from './kubelet-requests.ts';
import { fullRequest } from './testing/requests.ts';

const content = (more: Partial<CertificateRequestContent> = {}): CertificateRequestContent => ({
  ...{ commonName: 'system:node:n1', organizations: ['system:nodes'] },
  ...{ dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] },
  ...more,
});
const client = ['client auth', 'digital signature', 'key encipherment'];
const server = ['server auth', 'digital signature', 'key encipherment'];

test('a request says its subject and its alternative names; what is no request says nothing', async () => {
  assert.deepEqual(await readCertificateRequest(fullRequest), {
    commonName: 'system:node:n1',
    organizations: ['system:nodes', 'x'],
    dnsNames: ['a.example'],
    emailAddresses: ['a@b.c'],
    ipAddresses: ['10.0.0.1', 'fd00::1'],
    uris: ['spiffe://x'],
  });
  for (const wrong of ['', 'eA==', Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----').toString('base64')]) {
    assert.equal(await readCertificateRequest(wrong), undefined);
  }
});

test('what holds more than one request is none: whoever signs it might read the other', async () => {
  const pem = Buffer.from(fullRequest, 'base64').toString();
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  assert.notEqual(await readCertificateRequest(encoded(`\n${pem}\n`)), undefined);
  assert.equal(await readCertificateRequest(encoded(`${pem}\n${pem}`)), undefined);
  assert.equal(await readCertificateRequest(encoded(pem.replace('REQUEST-----\n', 'REQUEST-----\nProc-Type: 4\n\n'))), undefined);
  assert.equal(await readCertificateRequest(encoded(`-----BEGIN X-----\neA==\n-----END X-----\n${pem}`)), undefined);
});

test("a kubelet's client certificate is for a node and for nothing else", () => {
  const problemOf = (more: Partial<CertificateRequestContent>, usages: readonly string[] = client) => kubeletClientProblem(content(more), usages);
  assert.equal(problemOf({}), undefined);
  assert.equal(problemOf({}, ['client auth', 'digital signature']), undefined);
  assert.equal(problemOf({ organizations: ['system:nodes', 'x'] }), 'subject organization is not system:nodes');
  assert.equal(problemOf({ commonName: 'n1' }), 'subject common name does not begin with system:node:');
  assert.equal(problemOf({ dnsNames: ['a'] }), 'DNS subjectAltNames are not allowed');
  assert.equal(problemOf({ emailAddresses: ['a'] }), 'Email subjectAltNames are not allowed');
  assert.equal(problemOf({ ipAddresses: ['a'] }), 'IP subjectAltNames are not allowed');
  assert.equal(problemOf({ uris: ['a'] }), 'URI subjectAltNames are not allowed');
  for (const usages of [['client auth'], [...client, 'server auth']]) {
    assert.equal(problemOf({}, usages), 'usages did not match [client auth digital signature key encipherment]');
  }
});

test("a kubelet's serving certificate names where the node is reached", () => {
  const problemOf = (more: Partial<CertificateRequestContent>, usages: readonly string[] = server) => kubeletServingProblem(content(more), usages);
  const named = { dnsNames: ['n1'] };
  assert.equal(problemOf(named), undefined);
  assert.equal(problemOf({ ipAddresses: ['10.0.0.1'] }, ['server auth', 'digital signature']), undefined);
  assert.equal(problemOf({}), 'DNS or IP subjectAltName is required');
  assert.equal(problemOf({ ...named, emailAddresses: ['a'] }), 'Email subjectAltNames are not allowed');
  assert.equal(problemOf({ ...named, uris: ['a'] }), 'URI subjectAltNames are not allowed');
  assert.equal(problemOf({ ...named, commonName: 'n1' }), 'subject common name does not begin with system:node:');
  assert.equal(problemOf({ ...named, organizations: [] }), 'subject organization is not system:nodes');
  assert.equal(problemOf(named, client), 'usages did not match [digital signature key encipherment server auth]');
});
