import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createAuthority } from './certificate.ts';
import { createCertificateRequest, createKey } from './certificate-request.ts';
import { signRequest } from './sign-request.ts';

test('a request says whom it is for, and is signed as such for its own key', async () => {
  const clock = new FakeClock();
  const keyPem = createKey();
  const names = { commonName: 'system:node:n1', organizations: ['system:nodes'], dnsNames: ['n1'], ipAddresses: ['192.0.2.7', 'fd00::1'] };
  const requestPem = await createCertificateRequest(keyPem, names);
  const authority = await createAuthority({ commonName: 'ca', clock });
  const times = { notBeforeMs: clock.now(), notAfterMs: clock.now() + 3_600_000 };
  const certificate = new X509Certificate(await signRequest({ authority, requestPem, usages: ['digital signature', 'server auth'], ...times }));
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1');
  assert.deepEqual([certificate.checkIP('fd00::1') !== undefined, certificate.checkHost('n1')], [true, 'n1']);
  assert.equal(certificate.publicKey.equals(createPublicKey(keyPem)), true);
});
