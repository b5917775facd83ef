import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import {
  bitString,
  boolean,
  children,
  contentOf,
  explicit,
  implicit,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  unsignedInteger,
  utf8String,
} from './der.ts';
import { addressBytes } from './ip-address.ts';

export interface IssuedCertificate {
  readonly certPem: string;
  /** PKCS#8. */
  readonly keyPem: string;
}

/** A certificate that others are issued by: our own, or one whose key identifier is the SHA-1 of its public key, the usual choice. */
export type Authority = IssuedCertificate;

export interface AuthorityRequest {
  readonly commonName: string;
  readonly clock: Clock;
  /** Default: ten years, as upstream's tools. */
  readonly validMs?: number | undefined;
}

export interface CertificateRequest {
  readonly authority: Authority;
  /** The user that a client certificate stands for. */
  readonly commonName: string;
  /** The groups of that user. */
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly usages: 'client' | 'server' | 'both';
  /** Cut to what is left of the authority's own time. */
  readonly validMs: number;
  readonly clock: Clock;
}

export const YEAR_MS = 365 * 24 * 3_600_000;

/** The clocks of those who check may be this far behind ours. */
const CLOCK_SKEW_MS = 5 * 60_000;

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  sha256WithRsa: '1.2.840.113549.1.1.11',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** A new key pair and a certificate for it that it signed itself. Takes under a millisecond, as all here: keys are EC P-256. */
export function createAuthority(request: AuthorityRequest): Authority {
  const key = newKey();
  const nowMs = request.clock.now();
  const subject = distinguishedName(request.commonName, []);
  const certPem = signedCertificate({
    issuer: subject,
    subject,
    notBeforeMs: nowMs - CLOCK_SKEW_MS,
    notAfterMs: nowMs + (request.validMs ?? 10 * YEAR_MS),
    publicKey: createPublicKey(key),
    signingKey: key,
    extensions: [
      extension(oids.basicConstraints, 'critical', sequence(boolean(true))),
      // digitalSignature, keyEncipherment, keyCertSign: what upstream's authorities have
      extension(oids.keyUsage, 'critical', bitString(Buffer.from([0b1010_0100]), 2)),
      extension(oids.subjectKeyIdentifier, 'optional', octetString(keyIdentifier(createPublicKey(key)))),
    ],
  });
  return { certPem, keyPem: pemOf(key) };
}

/** A new key pair and a certificate for it, signed by the authority. @throws {InvalidInput} for what is not an IP address */
export function issueCertificate(request: CertificateRequest): IssuedCertificate {
  const issuer = new X509Certificate(request.authority.certPem);
  const nowMs = request.clock.now();
  const key = newKey();
  const certPem = signedCertificate({
    issuer: subjectOf(issuer),
    subject: distinguishedName(request.commonName, request.organizations),
    notBeforeMs: nowMs - CLOCK_SKEW_MS,
    notAfterMs: Math.min(nowMs + request.validMs, Date.parse(issuer.validTo)),
    publicKey: createPublicKey(key),
    signingKey: createPrivateKey(request.authority.keyPem),
    extensions: [
      extension(oids.basicConstraints, 'critical', sequence()),
      extension(oids.keyUsage, 'critical', bitString(Buffer.from([0b1000_0000]), 7)), // digitalSignature
      extension(oids.extendedKeyUsage, 'optional', sequence(...usageOids(request.usages).map(objectIdentifier))),
      extension(oids.subjectKeyIdentifier, 'optional', octetString(keyIdentifier(createPublicKey(key)))),
      extension(oids.authorityKeyIdentifier, 'optional', sequence(implicit(0, keyIdentifier(issuer.publicKey)))),
      ...alternativeNames(request),
    ],
  });
  return { certPem, keyPem: pemOf(key) };
}

interface CertificateContent {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

function signedCertificate(content: CertificateContent): string {
  const algorithm =
    content.signingKey.asymmetricKeyType === 'rsa'
      ? sequence(objectIdentifier(oids.sha256WithRsa), nullValue)
      : sequence(objectIdentifier(oids.ecdsaWithSha256));
  const toBeSigned = sequence(
    explicit(0, unsignedInteger(Buffer.from([2]))), // version 3
    unsignedInteger(newSerialNumber()),
    algorithm,
    content.issuer,
    sequence(time(content.notBeforeMs), time(content.notAfterMs)),
    content.subject,
    spki(content.publicKey),
    explicit(3, sequence(...content.extensions)),
  );
  const der = sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, content.signingKey), 0));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function extension(oid: string, weight: 'critical' | 'optional', value: Uint8Array): Buffer {
  const critical = weight === 'critical' ? [boolean(true)] : []; // DER leaves a default out
  return sequence(objectIdentifier(oid), ...critical, octetString(value));
}

function alternativeNames(request: CertificateRequest): readonly Buffer[] {
  const names = [
    ...request.dnsNames.map((name) => implicit(2, Buffer.from(name, 'latin1'))),
    ...request.ipAddresses.map((address) => implicit(7, addressBytes(address))),
  ];
  return names.length === 0 ? [] : [extension(oids.subjectAlternativeName, 'optional', sequence(...names))];
}

function usageOids(usages: CertificateRequest['usages']): readonly string[] {
  switch (usages) {
    case 'client':
      return [oids.clientAuth];
    case 'server':
      return [oids.serverAuth];
    case 'both':
      return [oids.serverAuth, oids.clientAuth];
  }
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (oid: string, value: string) => set(sequence(objectIdentifier(oid), utf8String(value)));
  return sequence(...organizations.map((name) => attribute(oids.organization, name)), attribute(oids.commonName, commonName));
}

/** The subject byte for byte: what an issuer's name is compared by. */
function subjectOf(certificate: X509Certificate): Uint8Array {
  const [toBeSigned] = children(certificate.raw);
  // version, serial number, algorithm, issuer, validity, subject
  const subject = toBeSigned === undefined ? undefined : children(toBeSigned)[5];
  if (subject === undefined) throw new Error('a certificate that node:crypto accepts has a subject');
  return subject;
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function newSerialNumber(): Uint8Array {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40; // positive, and always as long
  return serial;
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** RFC 5280 4.2.1.2, method 1: SHA-1 of the key's bits. */
function keyIdentifier(key: KeyObject): Buffer {
  const bits = children(spki(key))[1];
  if (bits === undefined) throw new Error('an SPKI has an algorithm and the key');
  return createHash('sha1').update(contentOf(bits).subarray(1)).digest(); // the first byte counts unused bits
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
