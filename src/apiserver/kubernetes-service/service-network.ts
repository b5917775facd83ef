import { parseCidr } from '#api/ip-address.ts';
import { InvalidInput } from '#base/errors.ts';
import type { ServerContext } from '../request/context.ts';
import type { SupplyContext } from '../reservations/holder.ts';
import { createServiceReservations, type ServiceReservations } from '../reservations/service-reservations.ts';
import { keepKubernetesService } from './kubernetes-service.ts';
import { ensureDefaultServiceCidr } from './service-cidr.ts';

export interface ServiceNetworkOptions {
  /** Ranges that Services get their addresses from, at most one a family; the first one's family is the default. */
  readonly serviceCIDRs?: readonly string[] | undefined;
  /** Address at which others reach this server, told as an endpoint of `default/kubernetes`. Default: the one on which it listens. */
  readonly advertisedAddress?: string | undefined;
}

const defaultServiceCIDRs: readonly string[] = ['10.96.0.0/16'];

/** What a server does for Services: addresses and ports for all of them, and the one that leads to itself. */
export class ServiceNetwork {
  readonly reservations: ServiceReservations;
  readonly #cidrs: readonly string[];
  readonly #advertisedAddress: string | undefined;

  /** @throws {InvalidInput} when a range is none */
  constructor(supply: SupplyContext, { serviceCIDRs = defaultServiceCIDRs, advertisedAddress }: ServiceNetworkOptions) {
    const families = serviceCIDRs.map((cidr) => {
      const range = parseCidr(cidr);
      if (range === undefined) throw new InvalidInput({ message: `${JSON.stringify(cidr)} is not a range of addresses such as 10.96.0.0/16` });
      return range.first.family;
    });
    this.#cidrs = serviceCIDRs;
    this.#advertisedAddress = advertisedAddress;
    this.reservations = createServiceReservations(supply, families);
  }

  /** Before the first request: without a range no Service gets an address. */
  async prepare(context: ServerContext, signal: AbortSignal): Promise<void> {
    await ensureDefaultServiceCidr(context, this.#cidrs, signal);
  }

  /** From the moment at which the server listens until the signal. */
  async keep(context: ServerContext, { host, port }: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<void> {
    const address = this.#advertisedAddress ?? host;
    await keepKubernetesService(context, { serviceCIDRs: this.#cidrs, address, port, reservations: this.reservations }, signal);
  }
}
