import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import { isNotFound } from '#client/api-error.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { reasonToDelete } from './plan.ts';

const INTERVAL_MS = 3_600_000;

/** Deletes requests for certificates that nobody waits for any longer. */
export async function runCertificateCleaner(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { client, clock, logger } = context;
  const requests = await syncedInformer(context, csrKind, signal);
  while (!signal.aborted) {
    for (const csr of requests.list()) {
      const { name, uid } = csr.metadata;
      if (reasonToDelete(csr, clock.now()) === undefined) continue;
      await client.delete(csrKind, { name }, { preconditions: { uid } }, signal).catch((error: unknown) => {
        if (!isNotFound(error)) logger.warn('a request for a certificate cannot be deleted', { name, error: String(error) });
      });
    }
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined); // aborted: the loop ends
  }
}
