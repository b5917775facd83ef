import { createPublicKey } from 'node:crypto';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Watchable } from '#base/watchable.ts';
import type { Client } from '#client/client.ts';
import type { RenewalCounts } from '../metrics/certificate-metrics.ts';
import type { KeyAndCertificate, KeysPort } from '../ports/keys.ts';
import type { CertificateFiles } from './certificate-files.ts';
import { type CertificateTemplate, isValidAt, isWhatIsWanted, renewalTimeMs } from './certificate-templates.ts';
import { CertificateRefused, requestCertificate } from './request-certificate.ts';

export interface CertificateKeeping {
  readonly client: Client;
  readonly keys: KeysPort;
  readonly files: CertificateFiles;
  /** `undefined`: it is not known yet what to ask for. A change that the certificate does not cover has a new one asked for at once. */
  readonly template: Watchable<CertificateTemplate | undefined>;
  /** Told of the certificate there is and of each new one. */
  readonly use: (pair: KeyAndCertificate) => void;
  readonly counts?: RenewalCounts | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1 */
  readonly random: () => number;
}

const firstRetryMs = 2_000;
const lastRetryMs = 32_000;
/** A timer of Node.js takes no longer waits than 24 days; looking again costs nothing. */
const longestWaitMs = 24 * 3_600_000;

/** Has a certificate, and replaces it before its time is over, until the signal is aborted. Never fails: it goes on asking. */
export async function keepCertificate(options: CertificateKeeping, signal: AbortSignal): Promise<void> {
  const { files, template, clock, logger, random } = options;
  let current = await files.current(signal);
  if (current !== undefined && isValidAt(current.certPem, clock.now())) options.use(current);
  let renewAtMs = current === undefined ? 0 : renewalTimeMs(current.certPem, random());
  let failures = 0;
  while (!signal.aborted) {
    const wanted = template.get();
    const isGood = wanted === undefined || (current !== undefined && isWhatIsWanted(current.certPem, wanted) && clock.now() < renewAtMs);
    if (isGood) {
      await changeOrTimeout(template, Math.min(longestWaitMs, renewAtMs > 0 ? renewAtMs - clock.now() : longestWaitMs), clock, signal);
      continue;
    }
    try {
      const before = current;
      current = await orderCertificate(options, wanted, 'csr-', signal);
      if (before !== undefined) options.counts?.replaced(before.certPem);
      renewAtMs = renewalTimeMs(current.certPem, random());
      failures = 0;
      logger.info('a certificate was issued', { signer: wanted.signerName, renewAt: new Date(renewAtMs).toISOString() });
      options.use(current);
    } catch (error) {
      if (signal.aborted) return;
      options.counts?.failed();
      const delayMs = Math.min(firstRetryMs * 2 ** failures, lastRetryMs);
      failures += 1;
      logger.warn('no certificate was issued', { signer: wanted.signerName, error: messageOf(error), delayMs });
      await clock.sleep(delayMs, signal).catch(() => undefined); // an aborted wait ends the loop
    }
  }
}

/** Asks for a certificate for a key, the one of an unanswered request if there is one, and keeps it on disk. */
export async function orderCertificate(
  { client, keys, files, clock }: Pick<CertificateKeeping, 'client' | 'keys' | 'files' | 'clock'>,
  template: CertificateTemplate,
  namePrefix: string,
  signal: AbortSignal,
): Promise<KeyAndCertificate> {
  const pending = await files.pendingKey(signal);
  const keyPem = pending ?? (await keys.newKey());
  if (pending === undefined) await files.keepPendingKey(keyPem, signal);
  const { names, signerName, usages } = template;
  const requestPem = await keys.request(keyPem, names);
  const publicKey = createPublicKey(keyPem).export({ type: 'spki', format: 'pem' });
  const identity = JSON.stringify([publicKey, names]); // not the request itself: its signature differs each time it is made
  const order = { namePrefix, signerName, usages, requestPem, identity };
  const certPem = await requestCertificate(client, order, clock, signal).catch(async (error: unknown) => {
    if (error instanceof CertificateRefused || error instanceof DeadlineExceeded) await files.dropPendingKey(signal); // the same words, the same answer
    throw error;
  });
  const pair = { certPem, keyPem };
  await files.save(pair, clock.now(), signal);
  return pair;
}

function changeOrTimeout(template: Watchable<unknown>, ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cleanups: (() => void)[] = [];
    const end = () => {
      for (const cleanup of cleanups) cleanup();
      resolve();
    };
    const timer = clock.after(Math.max(0, ms), end);
    cleanups.push(() => timer.cancel(), template.subscribe(end));
    cleanups.push(onAbort(signal, end));
  });
}
