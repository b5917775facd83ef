import { parseIp } from '#api/ip-address.ts';
import type { Endpoints, Service } from '#api/types/core-v1.ts';
import type { EndpointSlice } from '#api/types/discovery-v1.ts';

/** The Service of the API server itself, and all that has its name. */
export const kubernetesService = { namespace: 'default', name: 'kubernetes' } as const;

const portName = 'https';
const servicePort = 443;
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
const serviceNameLabel = 'kubernetes.io/service-name';

/** Where API servers of one store listen. */
export interface ListeningServers {
  /** Sorted, at least one. */
  readonly addresses: readonly string[];
  readonly port: number;
}

type Fields<T> = Omit<T, 'metadata' | 'apiVersion' | 'kind'>;

export const serviceLabels: Readonly<Record<string, string>> = { component: 'apiserver', provider: 'kubernetes' };
/** Their slice is there already: the controller that copies Endpoints must not make another. */
export const endpointsLabels: Readonly<Record<string, string>> = { [skipMirrorLabel]: 'true' };
export const sliceLabels: Readonly<Record<string, string>> = { [serviceNameLabel]: kubernetesService.name, [skipMirrorLabel]: 'true' };

/** @param clusterIP the first address of the services' range */
export function wantedService(clusterIP: string, port: number): Fields<Service> {
  return {
    spec: {
      clusterIP,
      ports: [{ name: portName, protocol: 'TCP', port: servicePort, targetPort: port }],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
  };
}

export function wantedEndpoints({ addresses, port }: ListeningServers): Fields<Endpoints> {
  return { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: portName, port, protocol: 'TCP' }] }] };
}

export function wantedSlice({ addresses, port }: ListeningServers): Fields<EndpointSlice> {
  return {
    addressType: parseIp(addresses[0] ?? '')?.family ?? 'IPv4',
    endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: [{ name: portName, port, protocol: 'TCP' }],
  };
}
