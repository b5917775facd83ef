import { addressIn, formatIp, parseCidr } from '#api/ip-address.ts';
import { endpoints as endpointsKind } from '#api/kinds/core/v1/endpoints.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { endpointSlice as endpointSliceKind } from '#api/kinds/discovery/v1/endpoint-slice.ts';
import { validateOrdinaryIp } from '#api/rules/addresses.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import { Cell, type Watchable, waitFor } from '#base/watchable.ts';
import { ensureExists, ensureObject } from '../bootstrap/ensure-object.ts';
import type { ServerContext } from '../request/context.ts';
import { cleanUp } from '../reservations/holder.ts';
import type { ServiceReservations } from '../reservations/service-reservations.ts';
import { endpointsLabels, kubernetesService, serviceLabels, sliceLabels, wantedEndpoints, wantedService, wantedSlice } from './plan.ts';
import { ServerLeases } from './server-leases.ts';
import { ensureDefaultServiceCidr } from './service-cidr.ts';

export interface KubernetesServiceOptions {
  /** Ranges of Services, that of the default family first. */
  readonly serviceCIDRs: readonly string[];
  /** Where others reach this server. One that leads nowhere but here (loopback) is not told to anybody. */
  readonly address: string;
  readonly port: number;
  readonly reservations: ServiceReservations;
}

/** As upstream's. What is changed or deleted is repaired at once, servers that came or went are seen after that time. */
const checkEveryMs = 10_000;
const repairEveryMs = 180_000;

/** Makes `default/kubernetes` with its Endpoints and its slice, and keeps them as they must be. Ends with the signal. */
export async function keepKubernetesService(context: ServerContext, options: KubernetesServiceOptions, signal: AbortSignal): Promise<void> {
  const isOrdinary = validateOrdinaryIp(options.address, '').length === 0;
  const leases = isOrdinary ? new ServerLeases(context.registry.storage, options.address) : undefined;
  const changes = new Cell(0);
  const onChange = () => changes.set(changes.get() + 1);
  const forget = followChanges(context, onChange);
  try {
    await Promise.all([leases?.follow(onChange, signal), reconcileForever(context, options, leases, changes, signal)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    forget();
    if (leases !== undefined) await cleanUp('the lease of the API server', context, (own) => leases.release(own));
  }
}

/** Ends by the signal only: it throws then. */
async function reconcileForever(
  context: ServerContext,
  options: KubernetesServiceOptions,
  leases: ServerLeases | undefined,
  changes: Watchable<number>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = context;
  let repairedAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const seen = changes.get();
    try {
      await reconcile(context, options, leases, signal);
      if (clock.monotonic() - repairedAtMs >= repairEveryMs) {
        await options.reservations.repair(signal);
        repairedAtMs = clock.monotonic();
      }
    } catch (error) {
      if (!signal.aborted) logger.warn('the service of the API server is not as it must be', { error: messageOf(error) });
      await clock.sleep(checkEveryMs, signal);
    }
    await untilChanged(changes, seen, clock, signal);
  }
}

async function untilChanged(changes: Watchable<number>, seen: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const either = new AbortController();
  const forget = onAbort(signal, () => either.abort());
  try {
    await Promise.race([clock.sleep(checkEveryMs, either.signal), waitFor(changes, (count) => count !== seen, either.signal)]);
  } finally {
    forget();
    either.abort(); // the one that lost ends too
  }
}

async function reconcile(
  context: ServerContext,
  { serviceCIDRs, port }: KubernetesServiceOptions,
  leases: ServerLeases | undefined,
  signal: AbortSignal,
): Promise<void> {
  await ensureDefaultServiceCidr(context, serviceCIDRs, signal);
  const range = parseCidr(serviceCIDRs[0] ?? '');
  if (range === undefined) throw new Error(`${serviceCIDRs[0]} is no range`);
  const fields = wantedService(formatIp(addressIn(range, 1n)), port);
  await ensureExists(context, { ...kubernetesService, kind: serviceKind, labels: serviceLabels, fields }, signal);
  if (leases === undefined) return;
  const servers = { addresses: await leases.renew(signal), port };
  await ensureObject(context, { ...kubernetesService, kind: endpointsKind, labels: endpointsLabels, fields: wantedEndpoints(servers) }, signal);
  await ensureObject(context, { ...kubernetesService, kind: endpointSliceKind, labels: sliceLabels, fields: wantedSlice(servers) }, signal);
}

function followChanges({ registry }: ServerContext, onChange: () => void): () => void {
  const key = `${kubernetesService.namespace}/${kubernetesService.name}`;
  const ends = [serviceKind, endpointsKind, endpointSliceKind].map((kind) =>
    registry.index(kind).subscribe((change) => {
      if (change.object.key === key) onChange();
    }, onChange),
  );
  return () => {
    for (const end of ends) end();
  };
}
