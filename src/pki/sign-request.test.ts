import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { InvalidInput } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createAuthority } from './certificate.ts';
import { certificateCovers, isIssuedBy } from './renewal.ts';
import { type RequestSigning, signRequest } from './sign-request.ts';

/** Of `openssl req -new -subj /O=system:nodes/CN=system:node:n1 -addext subjectAltName=…` with a key on P-256. */
const served = `-----BEGIN CERTIFICATE REQUEST-----
MIIBKzCB0gIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAErbOtJAMY35kY
DlpN4huZvLgc5QZCt6hZD5nfa+VSQRwmx0lcVaeAjXJDTZc20hwYeJ2MxSRzp3/P
Hz14LDvvfqBAMD4GCSqGSIb3DQEJDjExMC8wLQYDVR0RBCYwJIIKbjEuZXhhbXBs
ZYcECgAAAYcQ/QAAAAAAAAAAAAAAAAAAATAKBggqhkjOPQQDAgNIADBFAiEAvaJK
UBFo0qzsGjPBkYVbU0exi2Al/bLlx4qw2nPISo4CIBs9lqDcFKJWh/PGGywT4Vvo
9wAfnsc4ntaYizLcdIJq
-----END CERTIFICATE REQUEST-----`;

const clock = new FakeClock();
const hourMs = 3_600_000;
const authority = await createAuthority({ commonName: 'ca', clock, validMs: 100 * hourMs });
const signing = (changes: Partial<RequestSigning>): RequestSigning => ({
  ...{ authority, requestPem: served, usages: ['digital signature', 'key encipherment', 'server auth'] },
  ...{ notBeforeMs: clock.now() - 300_000, notAfterMs: clock.now() + hourMs },
  ...changes,
});

test('a certificate has the subject, the names and the key of its request, and the uses that were granted', async () => {
  const certPem = await signRequest(signing({}));
  const certificate = new X509Certificate(certPem);
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1');
  assert.equal(certificateCovers(certPem, { dnsNames: ['n1.example'], ipAddresses: ['10.0.0.1', 'fd00::1'] }), true);
  assert.deepEqual([certificate.ca, certificate.keyUsage], [false, ['1.3.6.1.5.5.7.3.1']]);
  assert.equal(isIssuedBy(certPem, authority.certPem), true);
  assert.deepEqual([certificate.validFrom, certificate.validTo].map(Date.parse), [clock.now() - 300_000, clock.now() + hourMs]);
  assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.notEqual(certificate.serialNumber, new X509Certificate(await signRequest(signing({}))).serialNumber);
});

test('a certificate does not outlive its authority, and one that is over signs nothing', async () => {
  const { validTo } = new X509Certificate(await signRequest(signing({ notAfterMs: clock.now() + 1000 * hourMs })));
  assert.equal(Date.parse(validTo), clock.now() + 100 * hourMs);
  const late = { notBeforeMs: clock.now() + 101 * hourMs, notAfterMs: clock.now() + 102 * hourMs };
  await assert.rejects(signRequest(signing(late)), /the signer has expired/);
});

test('what is no request, or was not signed by its own key, gets no certificate', async () => {
  await assert.rejects(signRequest(signing({ requestPem: 'x' })), InvalidInput);
  const [head = '', base64 = '', foot = ''] = served.split(/\n([^-]+)\n/);
  const bytes = Buffer.from(base64, 'base64');
  const at = bytes.indexOf('system:node:n1');
  bytes.write('system:node:n2', at);
  const forged = `${head}\n${bytes.toString('base64')}\n${foot}`;
  await assert.rejects(signRequest(signing({ requestPem: forged })), /unable to verify certificate request signature/);
});
