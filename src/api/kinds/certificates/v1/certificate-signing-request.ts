import { ageColumn, column, nameColumn } from '#api/column.ts';
import { humanDuration } from '#api/human-duration.ts';
import { defineKind } from '#api/kind.ts';
import { validateCertificateRequest, validateCertificateUpdate } from '#api/rules/certificate-requests.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';

export const certificateSigningRequest = defineKind<CertificateSigningRequest>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  scope: 'Cluster',
  message: 'certificates.v1.CertificateSigningRequest',
  shortNames: ['csr'],
  nameRule: 'path-segment',
  subresources: ['approval', 'status'],
  resetFields: { '': ['spec', 'status'], approval: ['spec', 'status.certificate'], status: ['spec', 'status.conditions'] },
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', { description: 'Who is to sign.', cell: ({ spec }) => spec.signerName || '<none>' }),
    column('Requestor', { description: 'Who asks.', cell: ({ spec }) => spec.username ?? '' }),
    column('RequestedDuration', {
      description: 'For how long the certificate is to be valid.',
      cell: ({ spec }) => (spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)),
    }),
    column('Condition', { description: 'Whether it was approved, denied or signed.', cell: conditionText }),
  ],
  // Nobody creates a request that is approved already.
  // A request is what it was when it was made; what becomes of it is said through the other endpoints.
  prepareUpdate: (next, previous) => ({ ...next, spec: previous.spec }),
  validate: validateCertificateRequest,
  validateStatusUpdate: (next, previous) => [
    ...validateCertificateRequest(next),
    ...validateCertificateUpdate(next, previous, { decision: false, certificate: true }),
  ],
  partialUpdates: {
    approval: {
      prepare: (next, previous) => ({ ...next, spec: previous.spec }),
      validate: (next, previous) => [
        ...validateCertificateRequest(next),
        ...validateCertificateUpdate(next, previous, { decision: true, certificate: false }),
      ],
    },
  },
});

function conditionText({ status = {} }: CertificateSigningRequest): string {
  const has = (type: string) => (status.conditions ?? []).some((condition) => condition.type === type);
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...((status.certificate ?? '') === '' ? [] : ['Issued'])].join(',');
}
