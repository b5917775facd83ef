import { X509Certificate } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { InvalidInput } from '#base/errors.ts';
import { certificateCovers } from './renewal.ts';

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

/** A new key pair (EC P-256) and a certificate for it that it signed itself. */
export async function createAuthority(request: AuthorityRequest): Promise<Authority> {
  const { signAuthority } = await signing();
  const nowMs = request.clock.now();
  return await signAuthority({
    subject: { commonName: request.commonName, organizations: [] },
    notBeforeMs: nowMs - CLOCK_SKEW_MS,
    notAfterMs: nowMs + (request.validMs ?? 10 * YEAR_MS),
  });
}

/** A new key pair (EC P-256) and a certificate for it, signed by the authority. @throws {InvalidInput} for what is not an IP address */
export async function issueCertificate(request: CertificateRequest): Promise<IssuedCertificate> {
  const issuer = new X509Certificate(request.authority.certPem);
  for (const address of request.ipAddresses) assertAddress(issuer, address);
  const { signCertificate } = await signing();
  const nowMs = request.clock.now();
  const issued = await signCertificate(
    {
      subject: request,
      notBeforeMs: nowMs - CLOCK_SKEW_MS,
      notAfterMs: Math.min(nowMs + request.validMs, Date.parse(issuer.validTo)),
      dnsNames: request.dnsNames,
      ipAddresses: request.ipAddresses,
      usages: request.usages === 'both' ? ['server', 'client'] : [request.usages],
    },
    request.authority,
  );
  // @peculiar/asn1-x509 2.11 reads the dotted end of an IPv6 address as hexadecimal digits, and says nothing.
  if (!certificateCovers(issued.certPem, { dnsNames: [], ipAddresses: request.ipAddresses })) {
    throw new InvalidInput({ message: `one of ${request.ipAddresses.join(', ')} cannot be encoded; write it in hexadecimal` });
  }
  return issued;
}

/** Any certificate will do: asked for an address, `node:crypto` throws for what is none; the library would make something of it. */
function assertAddress(certificate: X509Certificate, text: string): void {
  try {
    certificate.checkIP(text);
  } catch (cause) {
    throw new InvalidInput({ message: `${JSON.stringify(text)} is not an IP address`, cause });
  }
}

/** The certificate library takes a good part of a program's start to load: those who only check certificates never load it. */
async function signing(): Promise<typeof import('./sign-certificate.ts')> {
  return await import('./sign-certificate.ts');
}
