import { invalid as invalidField } from '#api/field-problem.ts';
import { type IpFamily, parseSloppyIp } from '#api/ip-address.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { quote } from '#api/quote.ts';
import { isHeadless, isLoadBalancer, needsHealthCheck, needsNodePorts, nodePortOf, specOf } from '#api/rules/service/service-facts.ts';
import { internalError, invalid } from '#api/status.ts';
import type { Service, ServicePort } from '#api/types/core-v1.ts';
import type { Holder, Holdings } from './holder.ts';
import type { NodePorts } from './node-ports.ts';
import type { ServiceAddresses } from './service-addresses.ts';

export interface ServiceSupplyOptions {
  readonly addresses: ServiceAddresses;
  readonly ports: NodePorts;
  readonly holder: Holder;
  /** What the Service has already. */
  readonly held: Holdings;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/** Gives one Service, once, what it needs. */
export class ServiceSupply {
  readonly #options: ServiceSupplyOptions;
  readonly #ips: string[] = [];
  readonly #ports: number[] = [];

  constructor(options: ServiceSupplyOptions) {
    this.#options = options;
  }

  /** What was reserved so far; also after a failure. */
  get taken(): Holdings {
    return this.#options.isDryRun ? { ips: [], ports: [] } : { ips: this.#ips, ports: this.#ports };
  }

  /** @throws a `StatusError`: 422 for what was asked for, 500 when there is nothing left */
  async supplied(service: Service, isNew: boolean): Promise<Service> {
    const addressed = await this.#withAddresses(service);
    return await this.#withHealthCheckPort(needsNodePorts(service) ? await this.#withNodePorts(addressed, isNew) : addressed);
  }

  async #withAddresses(service: Service): Promise<Service> {
    if (service.spec?.type === 'ExternalName' || isHeadless(service)) return service;
    const { ipFamilies = [], clusterIPs = [] } = specOf(service);
    const ips: string[] = [];
    for (const [index, family] of ipFamilies.entries()) {
      const given = clusterIPs[index] ?? '';
      if (given === '')
        ips.push(await this.#anyAddress(family as IpFamily)); // the kind's validation lets these two through only
      else ips.push(await this.#address(given, clusterIPs));
    }
    return { ...service, spec: { ...service.spec, clusterIP: ips[0], clusterIPs: ips } };
  }

  async #anyAddress(family: IpFamily): Promise<string> {
    const { addresses, holder, isDryRun, signal } = this.#options;
    const ip = isDryRun ? addresses.placeholder(family) : await addresses.takeAny(holder, family, signal);
    if (ip === undefined) throw internalError(`failed to allocate a serviceIP for Service ${quote(holder.name)}: range is full`);
    this.#ips.push(ip);
    return ip;
  }

  async #address(ip: string, all: readonly string[]): Promise<string> {
    const { addresses, holder, held, isDryRun, signal } = this.#options;
    const address = parseSloppyIp(ip);
    if (held.ips.includes(ip) || address === undefined) return ip;
    const refusal = isDryRun ? addresses.refusal(address) : await addresses.take(holder, address, signal);
    if (refusal !== undefined) throw this.#invalid('spec.clusterIPs', all, `failed to allocate IP ${ip}: ${refusal}`);
    this.#ips.push(ip);
    return ip;
  }

  /** Of a new Service, ports with one number and several protocols share a port of the nodes. */
  async #withNodePorts(service: Service, isNew: boolean): Promise<Service> {
    const given = service.spec?.ports ?? [];
    const choosesFreely = !isLoadBalancer(service) || service.spec?.allocateLoadBalancerNodePorts !== false;
    const shared = new Map<number, number>();
    const ports: ServicePort[] = [];
    for (const [index, port] of given.entries()) {
      const common = isNew ? (shared.get(port.port) ?? requestedNodePort(given, port.port)) : undefined;
      const wanted = nodePortOf(port) || (choosesFreely ? (common ?? 0) : 0);
      const isNeeded = wanted > 0 || choosesFreely;
      const nodePort = wanted > 0 ? await this.#port(wanted, shared.get(port.port), index, isNew) : isNeeded ? await this.#anyPort() : 0;
      if (nodePort > 0 && !shared.has(port.port)) shared.set(port.port, nodePort);
      ports.push(nodePort > 0 ? { ...port, nodePort } : port);
    }
    return { ...service, spec: { ...service.spec, ports } };
  }

  /** @param common number of an earlier port of the Service with the same number: that one is taken already */
  async #port(port: number, common: number | undefined, index: number, isNew: boolean): Promise<number> {
    const { held } = this.#options;
    if (held.ports.includes(port) || port === common || (!isNew && this.#ports.includes(port))) return port;
    const refusal = await this.#takePort(port);
    if (refusal !== undefined) throw this.#invalid(`spec.ports[${index}].nodePort`, port, refusal);
    return port;
  }

  async #takePort(port: number): Promise<string | undefined> {
    const { ports, holder, isDryRun, signal } = this.#options;
    if (this.#ports.includes(port)) return 'provided port is already allocated';
    const refusal = isDryRun ? ports.refusal(port) : await ports.take(holder, port, signal);
    if (refusal === undefined) this.#ports.push(port);
    return refusal;
  }

  async #anyPort(what = 'nodePort'): Promise<number> {
    const { ports, holder, isDryRun, signal } = this.#options;
    const port = isDryRun ? ports.placeholder(this.#ports) : await ports.takeAny(holder, signal);
    if (port === undefined) throw internalError(`failed to allocate a ${what}: range is full`);
    this.#ports.push(port);
    return port;
  }

  async #withHealthCheckPort(service: Service): Promise<Service> {
    if (!needsHealthCheck(service)) return service;
    const given = service.spec?.healthCheckNodePort ?? 0;
    if (given > 0 && this.#options.held.ports.includes(given)) return service;
    const refusal = given > 0 ? await this.#takePort(given) : undefined;
    if (refusal !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${given}: ${refusal}`);
    const healthCheckNodePort = given > 0 ? given : await this.#anyPort('HealthCheck NodePort');
    return { ...service, spec: { ...service.spec, healthCheckNodePort } };
  }

  #invalid(field: string, value: unknown, detail: string) {
    return invalid(serviceKind, this.#options.holder.name, [invalidField(field, value, detail)]);
  }
}

function requestedNodePort(ports: readonly ServicePort[], port: number): number | undefined {
  return ports.map((candidate) => (candidate.port === port ? nodePortOf(candidate) : 0)).find((nodePort) => nodePort > 0);
}
