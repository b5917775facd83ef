import type { CertificateRequestContent } from '#api/certificates/certificate-request.ts';
import { conditionOf } from '#api/certificates/conditions.ts';
import { kubeletClientProblem, kubeletServingProblem } from '#api/certificates/kubelet-requests.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const LEAST_MS = 10 * 60_000;
/** The clocks of those who check may be this far behind. */
const BACKDATE_MS = 5 * 60_000;
/** What lives shorter is not shortened by the time that it is dated back. */
const SHORT_MS = 8 * 3_600_000;

export type SignedUsage = 'digital signature' | 'key encipherment' | 'client auth' | 'server auth';
const signedUsages: readonly SignedUsage[] = ['digital signature', 'key encipherment', 'client auth', 'server auth'];

type Check = (content: CertificateRequestContent, usages: readonly string[]) => string | undefined;

/** What each of our signers asks of a request: what is wrong with it, in upstream's words. */
const signers: Readonly<Record<string, Check>> = {
  'kubernetes.io/kube-apiserver-client': (_content, usages) => clientUsagesProblem(usages),
  'kubernetes.io/kube-apiserver-client-kubelet': kubeletClientProblem,
  'kubernetes.io/kubelet-serving': kubeletServingProblem,
};

/** Whether a request waits for one of our signers. */
export function isToBeSigned(csr: CertificateSigningRequest): boolean {
  if ((csr.status?.certificate ?? '') !== '' || signers[csr.spec.signerName] === undefined) return false;
  const isTrue = (type: string) => conditionOf(csr, type)?.status === 'True';
  return isTrue('Approved') && conditionOf(csr, 'Denied') === undefined && !isTrue('Failed');
}

/** Why the signer does not sign it, undefined when it does. */
export function signerProblem({ spec }: CertificateSigningRequest, content: CertificateRequestContent): string | undefined {
  return signers[spec.signerName]?.(content, spec.usages ?? []);
}

export function usagesToSign({ spec }: CertificateSigningRequest): readonly SignedUsage[] {
  return signedUsages.filter((usage) => spec.usages?.includes(usage) === true);
}

/** From when until when the certificate is to be good. */
export function validityOf({ spec }: CertificateSigningRequest, nowMs: number): { readonly notBeforeMs: number; readonly notAfterMs: number } {
  const wantedMs = spec.expirationSeconds === undefined ? YEAR_MS : spec.expirationSeconds * 1000;
  const ttlMs = Math.min(Math.max(wantedMs, LEAST_MS), YEAR_MS);
  return { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: nowMs + (ttlMs < SHORT_MS ? ttlMs : ttlMs - BACKDATE_MS) };
}

export function failed(csr: CertificateSigningRequest, message: string, now: string): CertificateSigningRequest {
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime: now };
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } };
}

/** @param pem of the certificate */
export function signed(csr: CertificateSigningRequest, pem: string): CertificateSigningRequest {
  return { ...csr, status: { ...csr.status, certificate: Buffer.from(pem).toString('base64') } };
}

function clientUsagesProblem(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
