import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { InvalidInput } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type CertificateRequest, createAuthority, issueCertificate, YEAR_MS } from './certificate.ts';
import { certificateCovers } from './renewal.ts';

const authority = await createAuthority({ commonName: 'kubernetes', clock: systemClock });

async function issue(changes: Partial<CertificateRequest>) {
  return await issueCertificate({
    authority,
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    dnsNames: [],
    ipAddresses: [],
    usages: 'client',
    validMs: YEAR_MS,
    clock: systemClock,
    ...changes,
  });
}

test('a certificate says who it is for: user, groups, uses and no right to issue', async () => {
  const { certPem } = await issue({ organizations: ['system:masters', 'ops'], usages: 'both' });
  const parsed = new X509Certificate(certPem);
  assert.equal(parsed.subject, 'O=system:masters\nO=ops\nCN=kubernetes-admin');
  assert.equal(parsed.issuer, 'CN=kubernetes');
  assert.equal(parsed.ca, false);
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.equal(new X509Certificate(authority.certPem).ca, true);
});

test('a certificate does not outlive its authority, and years from 2050 on are written with four digits', async () => {
  const clock = new FakeClock(Date.UTC(2048, 0, 1) + 123); // certificates know no milliseconds
  const late = await createAuthority({ commonName: 'late', clock, validMs: 3 * YEAR_MS });
  const { certPem } = await issue({ authority: late, clock, validMs: 10 * YEAR_MS });
  const untilMs = Date.UTC(2048, 0, 1) + 3 * YEAR_MS;
  assert.equal(Date.parse(new X509Certificate(late.certPem).validTo), untilMs);
  assert.equal(Date.parse(new X509Certificate(certPem).validTo), untilMs);
  assert.equal(Date.parse(new X509Certificate(certPem).validFrom), Date.UTC(2047, 11, 31, 23, 55));
});

test('names are taken as they are, whatever they look like', async () => {
  const { certPem } = await issue({ commonName: '#0c0141', organizations: ['a, "b"+CN=c', 'é'] });
  assert.deepEqual({ ...new X509Certificate(certPem).toLegacyObject().subject }, { O: ['a, "b"+CN=c', 'é'], CN: '#0c0141' });
});

test('a certificate is for the addresses that were asked for, and a wrong one is refused', async () => {
  const ipAddresses = ['10.96.0.1', '::', '::1', 'fd00::1:2', '1:2:3:4:5:6:7:8'];
  const { certPem } = await issue({ usages: 'server', ipAddresses });
  assert.equal(certificateCovers(certPem, { dnsNames: [], ipAddresses }), true);
  assert.equal(certificateCovers(certPem, { dnsNames: [], ipAddresses: ['fd00::1:3'] }), false);
  for (const wrong of ['', 'localhost', '1.2.3', '1.2.3.256', '1.2.3.4/8', ':::', '1::2::3', '1:2:3:4:5:6:7', 'g::1', '1g::1', '::ffff:10.0.0.1']) {
    await assert.rejects(issue({ usages: 'server', ipAddresses: [wrong] }), InvalidInput, wrong);
  }
});
