import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { clusterIpsOf, nodePortsOf } from '#api/rules/service/service-facts.ts';
import type { Service } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectReader } from '../request/route.ts';

/** What the supplies of addresses and ports work with. */
export interface SupplyContext {
  readonly registry: Registry;
  readonly objects: ObjectReader;
  readonly clock: Clock;
  readonly logger: Logger;
  newUid(): string;
}

/** The Service that something is reserved for. It may not be stored yet. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
}

export interface Holdings {
  readonly ips: readonly string[];
  readonly ports: readonly number[];
}

/** A Service is stored a moment after its reservations; a reservation without a Service that is older belongs to nobody. */
const abandonedAfterMs = 60_000;
const cleanUpWithinMs = 10_000;

export function holderOf({ metadata: { namespace, name } }: Service): Holder {
  return { namespace, name };
}

export function holdingsOf(service: Service | undefined): Holdings {
  return service === undefined ? { ips: [], ports: [] } : { ips: clusterIpsOf(service), ports: nodePortsOf(service) };
}

/** What the Service holds as it is stored now. */
export async function storedHoldings({ registry, objects }: SupplyContext, holder: Holder, signal: AbortSignal): Promise<Holdings> {
  await registry.upToDate(signal);
  return holdingsOf(objects.get(serviceKind, holder.namespace, holder.name));
}

/** @param createdAt RFC 3339 */
export function isOld(createdAt: string | undefined, clock: Clock): boolean {
  return createdAt === undefined || clock.now() - Date.parse(createdAt) > abandonedAfterMs;
}

/** Cleans up under a time limit of its own, whatever became of the request. What fails is left for the repair. */
export async function cleanUp(what: string, { clock, logger }: SupplyContext, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await withDeadline(what, cleanUpWithinMs, clock, new AbortController().signal, work);
  } catch (error) {
    logger.warn('a reservation was not given back, the repair will do it', { what, error: messageOf(error) });
  }
}
