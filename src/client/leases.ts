import { lease as leaseKind } from '#api/kinds/coordination/v1/lease.ts';
import type { Lease, LeaseSpec } from '#api/types/coordination-v1.ts';
import type { OwnerReference } from '#api/types/meta-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { ApiError, isConflict, isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import { microTimestamp } from './timestamps.ts';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  readonly holderIdentity: string;
  readonly durationSeconds: number;
  readonly renewEveryMs: number;
  /** What the lease goes with; it is not made while this is `undefined`, and the reference is added when it was missing. */
  readonly owner: (signal: AbortSignal) => Promise<OwnerReference | undefined>;
  /** How long one request may take; absent: as long as it takes. */
  readonly requestWithinMs?: number | undefined;
  /** Called after each further try in a row that did not get through to the server. */
  readonly onUnreachable?: (() => void) | undefined;
  /** Called after each round of tries. */
  readonly onRound?: ((outcome: 'renewed' | 'failed') => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1 */
  readonly random?: (() => number) | undefined;
}

/** Rules of upstream's kubelet. */
const RENEW_TRIES = 5;
const RENEW_JITTER = 0.04;
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 7000;

/** Makes a lease and renews it until the signal is aborted. Never fails: it goes on trying. */
export async function keepLease(client: Client, options: LeaseOptions, signal: AbortSignal): Promise<void> {
  const random = options.random ?? Math.random;
  let latest: Lease | undefined;
  while (!signal.aborted) {
    latest = (latest === undefined ? undefined : await renew(client, options, latest, signal)) ?? (await ensure(client, options, signal));
    const waitMs = options.renewEveryMs * (1 + RENEW_JITTER * random());
    await options.clock.sleep(waitMs, signal).catch(() => undefined); // an aborted wait ends the loop
  }
}

/** Writes on the object that was last seen, without reading it first. @returns `undefined` when no try went through */
async function renew(client: Client, options: LeaseOptions, last: Lease, signal: AbortSignal): Promise<Lease | undefined> {
  let base = last;
  for (let tries = 0; tries < RENEW_TRIES && !signal.aborted; tries += 1) {
    try {
      const next = renewedLease(base, options, await ownerOf(base, options, signal));
      const renewed = await inTime(options, signal, (inner) => client.update(leaseKind, next, inner));
      options.onRound?.('renewed');
      return renewed;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (tries > 0 && !(error instanceof ApiError) && !signal.aborted) options.onUnreachable?.();
      if (isConflict(error)) base = (await read(client, options, signal).catch(() => undefined)) ?? base; // the next try tells
    }
  }
  return undefined;
}

/** Gets the lease and renews it, or makes it, however long that takes. @returns `undefined` when it may not be made yet, or was stopped */
async function ensure(client: Client, options: LeaseOptions, signal: AbortSignal): Promise<Lease | undefined> {
  for (let delayMs = FIRST_RETRY_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
    try {
      const present = await read(client, options, signal);
      const owner = await ownerOf(present, options, signal);
      if (present === undefined && owner === undefined) return undefined;
      const { namespace, name } = options;
      const kept = await inTime(options, signal, (inner) =>
        present === undefined
          ? client.create(leaseKind, { metadata: { namespace, name, ownerReferences: owner && [owner] }, spec: held(options) }, inner)
          : client.update(leaseKind, renewedLease(present, options, owner), inner),
      );
      options.onRound?.('renewed');
      return kept;
    } catch (error) {
      if (signal.aborted) return undefined;
      options.onRound?.('failed');
      options.logger.warn('the lease cannot be renewed', { lease: options.name, error: messageOf(error), delayMs });
      await options.clock.sleep(delayMs, signal).catch(() => undefined); // an aborted wait ends the loop
    }
  }
  return undefined;
}

async function read(client: Client, options: LeaseOptions, signal: AbortSignal): Promise<Lease | undefined> {
  try {
    return await inTime(options, signal, (inner) => client.get(leaseKind, options, inner));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function inTime<T>({ requestWithinMs, clock }: LeaseOptions, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return requestWithinMs === undefined ? await ask(signal) : await withDeadline('the lease', requestWithinMs, clock, signal, ask);
}

/** Asked only for a lease that goes with nothing yet. */
async function ownerOf(present: Lease | undefined, options: LeaseOptions, signal: AbortSignal): Promise<OwnerReference | undefined> {
  return present?.metadata.ownerReferences?.[0] ?? (await options.owner(signal));
}

function renewedLease(base: Lease, options: LeaseOptions, owner: OwnerReference | undefined): Lease {
  const metadata = owner === undefined ? base.metadata : { ...base.metadata, ownerReferences: [owner] };
  return { ...base, metadata, spec: { ...base.spec, ...held(options) } };
}

function held(options: LeaseOptions): LeaseSpec {
  const { holderIdentity, durationSeconds, clock } = options;
  return { holderIdentity, leaseDurationSeconds: durationSeconds, renewTime: microTimestamp(clock.now()) };
}
