import type { CertificateRequestContent } from '#api/certificates/certificate-request.ts';
import { conditionOf } from '#api/certificates/conditions.ts';
import { kubeletClientProblem } from '#api/certificates/kubelet-requests.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';

/** A right that lets a kubelet's request be approved without anybody looking at it. */
export interface ApprovalRight {
  readonly subresource: 'selfnodeclient' | 'nodeclient';
  readonly message: string;
}

const self: ApprovalRight = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const any: ApprovalRight = { subresource: 'nodeclient', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' };

/** Whether nobody has decided yet. */
export function isUndecided(csr: CertificateSigningRequest): boolean {
  return (csr.status?.certificate ?? '') === '' && conditionOf(csr, 'Approved') === undefined && conditionOf(csr, 'Denied') === undefined;
}

/** The rights of which one is enough, in the order in which they are asked about; none for what people must decide. */
export function rightsFor({ spec }: CertificateSigningRequest, content: CertificateRequestContent): readonly ApprovalRight[] {
  if (spec.signerName !== 'kubernetes.io/kube-apiserver-client-kubelet') return [];
  if (kubeletClientProblem(content, spec.usages ?? []) !== undefined) return [];
  return spec.username === content.commonName ? [self, any] : [any];
}

export function approved(csr: CertificateSigningRequest, message: string): CertificateSigningRequest {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } };
}
