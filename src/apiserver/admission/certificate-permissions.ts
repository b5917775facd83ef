import { readCertificateRequest } from '#api/certificates/certificate-request.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { quote } from '#api/quote.ts';
import { forbidden } from '#api/status.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { mastersGroup, type User } from '../request/user.ts';
import { type AdmissionPlugin, type AdmissionRequest, shownName } from './admission.ts';

const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** Who approves or denies requests must have the right to, for their signer. */
export function createCertificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    validate: (request) => {
      if (!isAbout(request, 'approval')) return;
      const { signerName } = requestOf(request.object).spec;
      if (!mayFor(authorizer, request.user, 'approve', signerName))
        refuse(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
    },
  };
}

/** Who writes certificates must have the right to sign, for their signer. */
export function createCertificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    validate: (request) => {
      if (!isAbout(request, 'status') || request.previous === undefined) return;
      const [next, previous] = [requestOf(request.object), requestOf(request.previous)];
      const isSame = (next.status?.certificate ?? '') === (previous.status?.certificate ?? '');
      if (isSame && semanticEqual(next.status?.conditions ?? [], previous.status?.conditions ?? [])) return;
      const { signerName } = previous.spec;
      if (!mayFor(authorizer, request.user, 'sign', signerName))
        refuse(request, `user not permitted to sign requests with signerName ${quote(signerName)}`);
    },
  };
}

/** Nobody becomes a member of system:masters by a certificate. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate: async (request) => {
    if (!isAbout(request, '') || request.operation !== 'CREATE') return;
    const { spec } = requestOf(request.object);
    if (spec.signerName !== clientSigner) return;
    const content = await readCertificateRequest(spec.request);
    if (content === undefined) refuse(request, 'failed to parse CSR: it is no certificate request');
    if (content.organizations.includes(mastersGroup)) refuse(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
  },
};

function isAbout({ kind, subresource }: AdmissionRequest, wanted: string): boolean {
  return kind.group === 'certificates.k8s.io' && kind.kind === 'CertificateSigningRequest' && subresource === wanted;
}

function requestOf(object: AdmissionRequest['object']): CertificateSigningRequest {
  return object as CertificateSigningRequest; // the kind's schema has read it
}

/** For the signer itself, or for all signers of its domain. */
function mayFor(authorizer: Authorizer, user: User, verb: string, signerName: string): boolean {
  const [domain = ''] = signerName.split('/');
  return [signerName, `${domain}/*`].some((name) => {
    const access = { kind: 'resource', verb, group: 'certificates.k8s.io', resource: 'signers', subresource: '', namespace: '', name } as const;
    return authorizer.decide(user, access).verdict === 'allow';
  });
}

function refuse(request: AdmissionRequest, detail: string): never {
  throw forbidden(request.kind, shownName(request), detail);
}
