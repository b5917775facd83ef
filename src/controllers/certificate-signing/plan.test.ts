import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateRequestContent } from '#api/certificates/certificate-request.ts';
import type { CertificateSigningRequest, CertificateSigningRequestSpec } from '#api/types/certificates-v1.ts';
import { failed, isToBeSigned, signerProblem, usagesToSign, validityOf } from './plan.ts';

const content: CertificateRequestContent = {
  ...{ commonName: 'jane', organizations: ['dev'] },
  ...{ dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] },
};

function csr(conditions: readonly string[] = [], spec: Partial<CertificateSigningRequestSpec> = {}, certificate?: string): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], ...spec },
    status: { conditions: conditions.map((type) => ({ type, status: 'True' })), certificate },
  };
}

test('what is approved and ours is signed once; what was denied or failed never', () => {
  assert.equal(isToBeSigned(csr(['Approved'])), true);
  for (const conditions of [[], ['Denied'], ['Approved', 'Denied'], ['Approved', 'Failed']]) assert.equal(isToBeSigned(csr(conditions)), false);
  assert.equal(isToBeSigned(csr(['Approved'], {}, 'x')), false);
  assert.equal(isToBeSigned(csr(['Approved'], { signerName: 'example.com/other' })), false);
});

test('a client certificate is for clients', () => {
  const problemOf = (usages: readonly string[]) => signerProblem(csr([], { usages }), content);
  assert.equal(problemOf(['digital signature', 'key encipherment', 'client auth']), undefined);
  assert.equal(problemOf(['client auth', 'server auth']), 'invalid usage for client certificate: server auth');
  assert.equal(problemOf(['digital signature']), 'missing required usage for client certificate: client auth');
  assert.deepEqual(usagesToSign(csr([], { usages: ['client auth', 'digital signature'] })), ['digital signature', 'client auth']);
});

test('a certificate is dated back five minutes, which shortens the long ones only; a year is the most', () => {
  const nowMs = Date.UTC(2030, 0, 1);
  const minutes = (expirationSeconds?: number) => {
    const { notBeforeMs, notAfterMs } = validityOf(csr([], expirationSeconds === undefined ? {} : { expirationSeconds }), nowMs);
    return [(notBeforeMs - nowMs) / 60_000, (notAfterMs - nowMs) / 60_000];
  };
  assert.deepEqual(minutes(3600), [-5, 60]);
  assert.deepEqual(minutes(8 * 3600), [-5, 8 * 60 - 5]);
  assert.deepEqual(minutes(60), [-5, 10]);
  for (const seconds of [undefined, 10 * 365 * 24 * 3600]) assert.deepEqual(minutes(seconds), [-5, 365 * 24 * 60 - 5]);
});

test('a request that its signer refuses says why', () => {
  assert.deepEqual(failed(csr(['Approved']), 'no', '2030-01-01T00:00:00Z').status?.conditions, [
    { type: 'Approved', status: 'True' },
    { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: 'no', lastUpdateTime: '2030-01-01T00:00:00Z' },
  ]);
});
