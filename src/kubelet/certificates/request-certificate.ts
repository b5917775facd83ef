import { createHash } from 'node:crypto';
import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, Unavailable } from '#base/errors.ts';
import { isAlreadyExists } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';

export interface CertificateOrder {
  /** Before the digest that makes it one of its kind: `node-csr-`. */
  readonly namePrefix: string;
  readonly signerName: string;
  readonly usages: readonly string[];
  /** PKCS#10, PEM. */
  readonly requestPem: string;
  /** What one request in the same name stands for: the same key asked for again is the same request. */
  readonly identity: string;
}

/** Somebody said no, or the signer would not. */
export class CertificateRefused extends AppError {
  readonly code = 'CERTIFICATE_REFUSED';
  readonly retry = 'backoff';
}

/** Upstream's number: by then an approval would be for a request that is soon forgotten. */
const patienceMs = 15 * 60_000;

/**
 * Asks the cluster for a certificate and waits until somebody approves it and it is signed.
 *
 * @returns PEM
 * @throws {CertificateRefused}, {DeadlineExceeded} after 15 minutes
 */
export async function requestCertificate(client: Client, order: CertificateOrder, clock: Clock, signal: AbortSignal): Promise<string> {
  const { signerName, usages, requestPem } = order;
  const name = `${order.namePrefix}${createHash('sha256')
    .update(JSON.stringify([order.identity, signerName, usages]))
    .digest('hex')
    .slice(0, 32)}`;
  const spec = { request: Buffer.from(requestPem).toString('base64'), signerName, usages: [...usages] };
  try {
    await client.create(csrKind, { metadata: { name }, spec }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  return await withDeadline(`certificate request ${name}`, patienceMs, clock, signal, (inner) => issued(client, name, clock, inner));
}

async function issued(client: Client, name: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const fieldSelector = `metadata.name=${name}`;
  for (;;) {
    const { items, resourceVersion } = await client.list(csrKind, { fieldSelector }, signal);
    const [present] = items;
    if (present === undefined) throw new Unavailable({ message: `certificate request ${name} is gone before it was answered` });
    const known = certificateOf(present);
    if (known !== undefined) return known;
    try {
      for await (const event of client.watch(csrKind, { fieldSelector, resourceVersion }, signal)) {
        if (event.type === 'BOOKMARK') continue;
        const certificate = event.type === 'DELETED' ? undefined : certificateOf(event.object);
        if (certificate !== undefined) return certificate;
        if (event.type === 'DELETED') break;
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError) || error.retry === 'never' || error instanceof CertificateRefused) throw error;
    }
    await clock.sleep(watchAgainAfterMs, signal); // the server ended the watch
  }
}

const watchAgainAfterMs = 1_000;

/** @throws {CertificateRefused} */
function certificateOf({ metadata, status }: CertificateSigningRequest): string | undefined {
  for (const [type, what] of [
    ['Denied', 'denied'],
    ['Failed', 'failed'],
  ] as const) {
    const condition = status?.conditions?.find((one) => one.type === type);
    if (condition === undefined) continue;
    const words = `certificate signing request is ${what}, reason: ${condition.reason ?? ''}, message: ${condition.message ?? ''}`;
    throw new CertificateRefused({ message: `${metadata.name}: ${words}` });
  }
  const certificate = status?.certificate ?? '';
  const isApproved = status?.conditions?.some(({ type }) => type === 'Approved') === true;
  return isApproved && certificate !== '' ? Buffer.from(certificate, 'base64').toString('utf8') : undefined;
}
