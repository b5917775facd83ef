import { readCertificateRequest } from '#api/certificates/certificate-request.ts';
import type { KindRef } from '#api/kind.ts';
import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import type { KubeObject } from '#api/object.ts';
import type { SubjectAccessReviewSpec, SubjectAccessReviewStatus } from '#api/types/authorization-v1.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { type ApprovalRight, approved, isUndecided, rightsFor } from './plan.ts';

interface AccessReview extends KubeObject {
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

const reviewKind: KindRef<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
};

/** A right that is missing now may be given later. */
const backoff = { baseMs: 200, maxMs: 1_000_000 };

/** Approves the requests of kubelets for client certificates, where a role says that they may have them. */
export async function runCertificateApprovingController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { client } = context;
  const requests = await syncedInformer(context, csrKind, signal);
  const queue = new WorkQueue({ ...context, workers: 2, backoff });
  requests.subscribe(({ type, object }) => {
    if (type !== 'deleted' && isUndecided(object)) queue.add(object.metadata.name);
  });
  const isAllowed = async (csr: CertificateSigningRequest, right: ApprovalRight, inner: AbortSignal) => {
    const answer = await client.create(reviewKind, { metadata: { name: '' }, spec: question(csr, right) }, inner);
    return answer.status?.allowed === true;
  };
  await queue.run(async (name, inner) => {
    const csr = requests.get(name);
    if (csr === undefined || !isUndecided(csr)) return;
    const content = await readCertificateRequest(csr.spec.request);
    const rights = content === undefined ? [] : rightsFor(csr, content);
    for (const right of rights) {
      if (!(await isAllowed(csr, right, inner))) continue;
      await client.updateSubresource(csrKind, approved(csr, right.message), 'approval', inner).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or changed, which brings it back
      });
      return;
    }
    if (rights.length === 0) return;
    const tried = rights.map(({ subresource }) => subresource).join(' ');
    throw new Unavailable({ message: `recognized csr "${name}" as [${tried}] but subject access review was not approved` });
  }, signal);
}

function question({ spec }: CertificateSigningRequest, { subresource }: ApprovalRight): SubjectAccessReviewSpec {
  const { username, uid, groups, extra } = spec;
  const resourceAttributes = { group: 'certificates.k8s.io', version: '*', resource: 'certificatesigningrequests', subresource, verb: 'create' };
  return { user: username, uid, groups, extra, resourceAttributes };
}
