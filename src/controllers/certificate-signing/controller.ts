import { readCertificateRequest } from '#api/certificates/certificate-request.ts';
import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { failed, isToBeSigned, type SignedUsage, signed, signerProblem, usagesToSign, validityOf } from './plan.ts';

/** A certificate that a signer has agreed to. */
export interface CertificateWish {
  /** PKCS#10. */
  readonly requestPem: string;
  readonly usages: readonly SignedUsage[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Signs what was approved, or says why it does not. @param sign gives the certificate as PEM */
export async function runCertificateSigningController(
  context: ControllerContext,
  sign: (wish: CertificateWish) => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const requests = await syncedInformer(context, csrKind, signal);
  const queue = new WorkQueue({ ...context, workers: 2 });
  requests.subscribe(({ type, object }) => {
    if (type !== 'deleted' && isToBeSigned(object)) queue.add(object.metadata.name);
  });
  await queue.run(async (name, inner) => {
    const csr = requests.get(name);
    if (csr === undefined || !isToBeSigned(csr)) return;
    const content = await readCertificateRequest(csr.spec.request);
    if (content === undefined) return; // validation lets none in
    const nowMs = context.clock.now();
    const problem = signerProblem(csr, content);
    try {
      const next =
        problem === undefined
          ? signed(csr, await sign({ requestPem: textOf(csr.spec.request), usages: usagesToSign(csr), ...validityOf(csr, nowMs) }))
          : failed(csr, problem, timestamp(nowMs));
      await context.client.updateStatus(csrKind, next, inner);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or changed, which brings it back
    }
  }, signal);
}

function textOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
