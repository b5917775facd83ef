import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';
import { reasonToDelete } from './plan.ts';

const createdMs = Date.UTC(2030, 0, 1);
const hourMs = 3_600_000;

function isKept(type: string | undefined, certificate: string | undefined, ageMs: number): boolean {
  const condition = { type: type ?? '', status: 'True', lastUpdateTime: '2030-01-01T00:00:00Z' };
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: { request: '', signerName: 'example.com/x' },
    status: { conditions: type === undefined ? [] : [condition], certificate },
  };
  return reasonToDelete(csr, createdMs + ageMs) === undefined;
}

test('what is decided and done is kept for an hour, what waits for a day', () => {
  const rows: readonly (readonly [string | undefined, string | undefined, number])[] = [
    ['Denied', undefined, 1],
    ['Failed', undefined, 1],
    ['Approved', 'foreign', 1],
    ['Approved', undefined, 24],
    [undefined, undefined, 24],
  ];
  for (const [type, certificate, hours] of rows) {
    assert.equal(isKept(type, certificate, hours * hourMs), true, type);
    assert.equal(isKept(type, certificate, hours * hourMs + 1), false, type);
  }
});
