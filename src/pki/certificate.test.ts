import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type CertificateRequest, createAuthority, issueCertificate, YEAR_MS } from './certificate.ts';

const authority = createAuthority({ commonName: 'kubernetes', clock: systemClock });

function issue(changes: Partial<CertificateRequest>) {
  return issueCertificate({
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

test('a certificate says who it is for: user, groups, uses and no right to issue', () => {
  const { certPem } = issue({ organizations: ['system:masters', 'ops'], usages: 'both' });
  const parsed = new X509Certificate(certPem);
  assert.equal(parsed.subject, 'O=system:masters\nO=ops\nCN=kubernetes-admin');
  assert.equal(parsed.issuer, 'CN=kubernetes');
  assert.equal(parsed.ca, false);
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.equal(new X509Certificate(authority.certPem).ca, true);
});

test('a certificate does not outlive its authority, and years from 2050 on are written with four digits', () => {
  const clock = new FakeClock(Date.UTC(2048, 0, 1));
  const late = createAuthority({ commonName: 'late', clock, validMs: 3 * YEAR_MS });
  const { certPem } = issue({ authority: late, clock, validMs: 10 * YEAR_MS });
  const untilMs = Date.UTC(2048, 0, 1) + 3 * YEAR_MS;
  assert.equal(Date.parse(new X509Certificate(late.certPem).validTo), untilMs);
  assert.equal(Date.parse(new X509Certificate(certPem).validTo), untilMs);
  assert.equal(Date.parse(new X509Certificate(certPem).validFrom), Date.UTC(2047, 11, 31, 23, 55));
});
