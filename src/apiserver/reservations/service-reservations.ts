import type { IpFamily } from '#api/ip-address.ts';
import { endpoints as endpointsKind } from '#api/kinds/core/v1/endpoints.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { clusterIpsOf, nodePortsOf } from '#api/rules/service/service-facts.ts';
import { invalid } from '#api/status.ts';
import type { Service } from '#api/types/core-v1.ts';
import type { Reservations } from '../verbs/reservations.ts';
import { cleanUp, type Holder, type Holdings, holderOf, holdingsOf, type SupplyContext, storedHoldings } from './holder.ts';
import { withFamilies } from './ip-families.ts';
import { NodePorts } from './node-ports.ts';
import { canonical, ServiceAddresses } from './service-addresses.ts';
import { ServiceSupply } from './service-supply.ts';

export interface ServiceReservations extends Reservations {
  /** Gives back what a crash left, and reserves what Services have without a reservation. */
  repair(signal: AbortSignal): Promise<void>;
}

/**
 * Addresses and ports of Services: taken before a Service is stored; given back when it was not stored, when it can do without them, and when
 * it is gone.
 *
 * @param families that the cluster has, the default first
 */
export function createServiceReservations(context: SupplyContext, families: readonly IpFamily[]): ServiceReservations {
  const supplies: Supplies = { context, addresses: new ServiceAddresses(context), ports: new NodePorts(context) };
  return {
    handles: ({ group, kind }) => group === serviceKind.group && kind === serviceKind.kind,
    reserve: async (next, previous, writer, signal) => {
      const before = previous as Service | undefined; // the kind says what they are
      const { service, problems } = withFamilies(next as Service, before, families);
      if (problems.length > 0) throw invalid(serviceKind, service.metadata.name, problems);
      const holder = holderOf(service);
      const held = holdingsOf(before);
      const supply = new ServiceSupply({ ...supplies, holder, held, isDryRun: writer.isDryRun, signal });
      const release = () => giveBack(supplies, holder, supply.taken);
      try {
        const object = await supply.supplied(service, before === undefined);
        return { object, release, keep: () => giveBack(supplies, holder, without(held, holdingsOf(object))) };
      } catch (error) {
        await release();
        throw error;
      }
    },
    giveUp: async (object) => {
      const service = object as Service; // the kind says what it is
      await giveBack(supplies, holderOf(service), holdingsOf(service));
      await removeEndpoints(supplies, holderOf(service));
    },
    repair: (signal) => repair(supplies, signal),
  };
}

interface Supplies {
  readonly context: SupplyContext;
  readonly addresses: ServiceAddresses;
  readonly ports: NodePorts;
}

/** After a failure nobody knows whether the Service was stored: what is stored under its name keeps what it has. */
async function giveBack({ context, addresses, ports }: Supplies, holder: Holder, all: Holdings): Promise<void> {
  if (all.ips.length === 0 && all.ports.length === 0) return;
  await cleanUp(`${holder.namespace}/${holder.name}`, context, async (signal) => {
    const unused = without(all, await storedHoldings(context, holder, signal));
    await Promise.all([
      ...unused.ips.map((ip) => addresses.giveBack(holder, ip, signal)),
      ...unused.ports.map((port) => ports.giveBack(holder, port, signal)),
    ]);
  });
}

/** Nobody else would remove the Endpoints that a user made for a Service without a selector. */
async function removeEndpoints({ context }: Supplies, { namespace, name }: Holder): Promise<void> {
  const { registry } = context;
  const index = registry.index(endpointsKind);
  const key = index.storage.keyOf(namespace, name);
  await cleanUp(`endpoints ${namespace}/${name}`, context, async (signal) => {
    for (let entry = index.get(key); entry !== undefined; entry = index.get(key)) {
      if ((await registry.delete(endpointsKind, key, entry.revision, signal)).kind === 'written') return;
    }
  });
}

async function repair({ context, addresses, ports }: Supplies, signal: AbortSignal): Promise<void> {
  await context.registry.upToDate(signal);
  const services = context.objects.list(serviceKind).map((service) => ({ service, holder: holderOf(service) }));
  const owned = <T>(read: (service: Service) => readonly T[]) =>
    new Map(services.flatMap(({ service, holder }) => read(service).map((item) => [item, holder] as const)));
  await addresses.repair(
    owned((service) => clusterIpsOf(service).map(canonical)),
    signal,
  );
  await ports.repair(owned(nodePortsOf), signal);
}

function without(all: Holdings, kept: Holdings): Holdings {
  return { ips: all.ips.filter((ip) => !kept.ips.includes(ip)), ports: all.ports.filter((port) => !kept.ports.includes(port)) };
}
