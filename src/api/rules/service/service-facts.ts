import type { Service, ServicePort, ServiceSpec } from '#api/types/core-v1.ts';

/** The address of a Service that has none on purpose. */
export const noClusterIp = 'None';

const typesWithClusterIp: readonly (string | undefined)[] = ['ClusterIP', 'NodePort', 'LoadBalancer'];
const typesWithNodePorts: readonly (string | undefined)[] = ['NodePort', 'LoadBalancer'];

export function specOf(service: Service): ServiceSpec {
  return service.spec ?? {};
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIPs?.[0] === noClusterIp || ((spec?.clusterIPs ?? []).length === 0 && spec?.clusterIP === noClusterIp);
}

/** Headless Services count: their type is one of those. */
export function needsClusterIp({ spec }: Service): boolean {
  return typesWithClusterIp.includes(spec?.type);
}

export function needsNodePorts({ spec }: Service): boolean {
  return typesWithNodePorts.includes(spec?.type);
}

export function isLoadBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer';
}

/** Whether load balancers ask its nodes for their health on a port of its own. */
export function needsHealthCheck(service: Service): boolean {
  return isLoadBalancer(service) && service.spec?.externalTrafficPolicy === 'Local';
}

/** Whether it is reached from outside of the cluster. */
export function isExternallyAccessible({ spec }: Service): boolean {
  return typesWithNodePorts.includes(spec?.type) || (spec?.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
}

/** Empty for a headless Service and for one without an address. */
export function clusterIpsOf({ spec }: Service): readonly string[] {
  if (!typesWithClusterIp.includes(spec?.type)) return [];
  const all = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return all.filter((ip) => ip !== '' && ip !== noClusterIp);
}

/** Numbers that the Service holds of the node ports' range, each once. */
export function nodePortsOf(service: Service): readonly number[] {
  const ports = (service.spec?.ports ?? []).map(nodePortOf).filter((port) => port > 0);
  const healthCheck = needsHealthCheck(service) ? (service.spec?.healthCheckNodePort ?? 0) : 0;
  return [...new Set(healthCheck > 0 ? [...ports, healthCheck] : ports)];
}

export function nodePortOf({ nodePort }: ServicePort): number {
  return nodePort ?? 0;
}
