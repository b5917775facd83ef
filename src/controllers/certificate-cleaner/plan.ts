import { X509Certificate } from 'node:crypto';
import { conditionOf } from '#api/certificates/conditions.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/types/certificates-v1.ts';

const HOUR_MS = 3_600_000;
/** What waits for somebody may wait a day; what is decided and done is kept for those who come to read it. */
const WAITING_MS = 24 * HOUR_MS;

/** Why the request is not kept any longer, undefined while it is. */
export function reasonToDelete(csr: CertificateSigningRequest, nowMs: number): string | undefined {
  const { metadata, status } = csr;
  const certificate = status?.certificate ?? '';
  if (isExpired(certificate, nowMs)) return 'the certificate is expired';
  const isOlder = (of: CertificateSigningRequestCondition, ms: number) => nowMs - Date.parse(of.lastUpdateTime ?? metadata.creationTimestamp) > ms;
  const [approved, denied, failed] = ['Approved', 'Denied', 'Failed'].map((type) => conditionOf(csr, type));
  if (denied !== undefined && isOlder(denied, HOUR_MS)) return 'it was denied over an hour ago';
  if (failed !== undefined && isOlder(failed, HOUR_MS)) return 'it failed over an hour ago';
  if (approved !== undefined) {
    if (certificate !== '' && isOlder(approved, HOUR_MS)) return 'its certificate was issued over an hour ago';
    return certificate === '' && isOlder(approved, WAITING_MS) ? 'it is approved and has waited for its certificate for over a day' : undefined;
  }
  const isPending = denied === undefined && failed === undefined;
  return isPending && nowMs - Date.parse(metadata.creationTimestamp) > WAITING_MS ? 'nobody has decided about it for over a day' : undefined;
}

function isExpired(certificate: string, nowMs: number): boolean {
  if (certificate === '') return false;
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo) < nowMs;
  } catch {
    return false; // what a signer of others wrote is not ours to judge
  }
}
