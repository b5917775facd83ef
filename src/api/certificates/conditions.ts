import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/types/certificates-v1.ts';

export function conditionOf(csr: CertificateSigningRequest, type: string): CertificateSigningRequestCondition | undefined {
  return (csr.status?.conditions ?? []).find((condition) => condition.type === type);
}
