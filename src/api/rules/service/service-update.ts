import { deepEqual } from '#api/deep-equal.ts';
import type { Service, ServicePort, ServiceSpec } from '#api/types/core-v1.ts';
import { isExternallyAccessible, isLoadBalancer, needsClusterIp, needsHealthCheck, needsNodePorts, nodePortOf, specOf } from './service-facts.ts';

/** An old client knows one address only: it stands for the list. Never the other way round. */
export function withClusterIpList(service: Service): Service {
  const { clusterIP = '', clusterIPs = [] } = specOf(service);
  return clusterIP === '' || clusterIPs.length > 0 ? service : changed(service, { clusterIPs: [clusterIP] });
}

/** The new state with what the client left out and the Service holds, and without what the new type has no use for and the client left alone. */
export function prepareServiceUpdate(next: Service, previous: Service): Service {
  return withoutUnused(withLinkedClusterIps(withHeldValues(next, previous), previous), previous);
}

/** A PUT of a manifest without addresses and ports keeps those that the Service got. */
function withHeldValues(next: Service, previous: Service): Service {
  const [spec, before] = [specOf(next), specOf(previous)];
  let held: Partial<ServiceSpec> = {};
  if (needsClusterIp(next) && needsClusterIp(previous)) {
    const clusterIP = (spec.clusterIP ?? '') === '' ? before.clusterIP : spec.clusterIP;
    const isSame = clusterIP === before.clusterIP && (spec.clusterIPs ?? []).length === 0;
    held = { clusterIP, ...(isSame ? { clusterIPs: before.clusterIPs } : {}) };
  }
  if (needsNodePorts(next) && needsNodePorts(previous)) held = { ...held, ports: withHeldNodePorts(spec.ports ?? [], before.ports ?? []) };
  if (needsHealthCheck(next) && needsHealthCheck(previous) && (spec.healthCheckNodePort ?? 0) === 0) {
    held = { ...held, healthCheckNodePort: before.healthCheckNodePort };
  }
  return changed(next, held);
}

/** A port is known by its name. A number that another port of the new state has is not held any more. */
function withHeldNodePorts(next: readonly ServicePort[], previous: readonly ServicePort[]): readonly ServicePort[] {
  const given = new Set(next.map(nodePortOf));
  const byName = new Map(previous.map((port) => [port.name ?? '', nodePortOf(port)]));
  return next.map((port) => {
    const held = byName.get(port.name ?? '') ?? 0;
    return nodePortOf(port) > 0 || held === 0 || given.has(held) ? port : { ...port, nodePort: held };
  });
}

/** The address and the list of addresses say the same; a client that changed one of them meant both. */
function withLinkedClusterIps(next: Service, previous: Service): Service {
  const [{ clusterIP = '', clusterIPs = [] }, before] = [specOf(next), specOf(previous)];
  const heldIps = before.clusterIPs ?? [];
  if (clusterIP === (before.clusterIP ?? '')) {
    return clusterIPs.length === 0 && heldIps.length > 0 ? changed(next, { clusterIPs: heldIps }) : next;
  }
  if (!deepEqual(clusterIPs, heldIps)) return next;
  return changed(next, clusterIP === '' ? { clusterIP: undefined, clusterIPs: undefined } : { clusterIPs: [clusterIP] });
}

function withoutUnused(next: Service, previous: Service): Service {
  const [spec, before] = [specOf(next), specOf(previous)];
  const gone: (keyof ServiceSpec)[] = [];
  const drop = (isNeeded: (service: Service) => boolean, ...keys: readonly (keyof ServiceSpec)[]) => {
    if (isNeeded(previous) && !isNeeded(next)) gone.push(...keys.filter((key) => deepEqual(spec[key], before[key])));
  };
  if (needsClusterIp(previous) && !needsClusterIp(next) && deepEqual(spec.clusterIPs ?? [], before.clusterIPs ?? [])) {
    gone.push('clusterIP', 'clusterIPs');
  }
  drop(needsClusterIp, 'ipFamilies', 'ipFamilyPolicy');
  drop(needsHealthCheck, 'healthCheckNodePort');
  drop(isLoadBalancer, 'allocateLoadBalancerNodePorts', 'loadBalancerClass');
  drop(isExternallyAccessible, 'externalTrafficPolicy');
  const isWithoutNodePorts = needsNodePorts(previous) && !needsNodePorts(next) && hasSameNodePorts(spec, before);
  const kept = changed(next, {
    ...Object.fromEntries(gone.map((key) => [key, undefined])),
    ...(isWithoutNodePorts ? { ports: (spec.ports ?? []).map(withoutNodePort) } : {}),
  });
  return isLoadBalancer(kept) || kept.status?.loadBalancer?.ingress === undefined ? kept : { ...kept, status: { ...kept.status, loadBalancer: {} } };
}

/** Whether every number of the new state is one of the old. */
function hasSameNodePorts(next: ServiceSpec, previous: ServiceSpec): boolean {
  const before = new Set((previous.ports ?? []).map(nodePortOf));
  return (next.ports ?? []).map(nodePortOf).every((port) => port === 0 || before.has(port));
}

function withoutNodePort({ nodePort: _, ...port }: ServicePort): ServicePort {
  return port;
}

/** The Service with parts of its spec changed; what becomes undefined is gone. */
function changed(service: Service, parts: Partial<ServiceSpec>): Service {
  if (Object.keys(parts).length === 0) return service;
  const entries = Object.entries({ ...service.spec, ...parts }).filter(([, value]) => value !== undefined);
  return { ...service, spec: Object.fromEntries(entries) };
}
