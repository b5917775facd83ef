import { X509Certificate } from 'node:crypto';
import { InvalidInput } from '#base/errors.ts';
import type { Authority } from './certificate.ts';

/** What a certificate may be used for, in Kubernetes' words. */
export type RequestedUsage = 'digital signature' | 'key encipherment' | 'client auth' | 'server auth';

export interface RequestSigning {
  readonly authority: Authority;
  /** PKCS#10; the subject, the alternative names and the public key are taken from it. */
  readonly requestPem: string;
  readonly usages: readonly RequestedUsage[];
  readonly notBeforeMs: number;
  /** Cut to what is left of the authority's own time. */
  readonly notAfterMs: number;
}

/**
 * A certificate for somebody else's key.
 *
 * @returns PEM
 * @throws {InvalidInput} for a request that cannot be read, that its own key did not sign, or when the authority's time is over
 */
export async function signRequest(request: RequestSigning): Promise<string> {
  const untilMs = Math.min(request.notAfterMs, Date.parse(new X509Certificate(request.authority.certPem).validTo));
  if (untilMs <= request.notBeforeMs) throw new InvalidInput({ message: `the signer has expired: NotAfter=${new Date(untilMs).toISOString()}` });
  const { signRequestedCertificate } = await import('./sign-certificate.ts'); // the library is loaded when it is needed
  return await signRequestedCertificate({ ...request, notAfterMs: untilMs });
}
