import type { KindRef } from '#api/kind.ts';
import { endpoints as endpointsKind } from '#api/kinds/core/v1/endpoints.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { endpointSlice as sliceKind } from '#api/kinds/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '#api/object.ts';
import { notFound, serviceUnavailable } from '#api/status.ts';
import type { Endpoints, Service } from '#api/types/core-v1.ts';
import type { EndpointSlice } from '#api/types/discovery-v1.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { namesOf } from './kubelet-location.ts';
import { isReachable } from './pod-proxy.ts';
import { backendUrl, type ProxyName, proxyRoute } from './proxy.ts';

/** One place where a service is served. */
interface Backend {
  readonly address: string;
  readonly port: number;
}

/** `services/proxy`: what one of the backends of a service serves. */
export function serviceProxyRoute(context: RouteContext): Route {
  return proxyRoute(
    'services',
    ({ objects }, request, asked) => {
      const { namespace } = namesOf(request);
      const service = objects.get(serviceKind, namespace, asked.name);
      if (service === undefined) throw notFound(serviceKind, asked.name);
      const ofService = <T extends KubeObject>(kind: KindRef<T>, isOfService: (object: T) => boolean) =>
        objects.list(kind).filter((object) => object.metadata.namespace === namespace && isOfService(object));
      const slices = ofService(sliceKind, ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === asked.name);
      const endpoints = slices.length > 0 ? [] : ofService(endpointsKind, ({ metadata }) => metadata.name === asked.name);
      const port = portName(service, asked);
      const { address, port: number } = oneOf([...backendsOfSlices(slices, port), ...backendsOfEndpoints(endpoints, port)], asked);
      return { url: backendUrl(asked.scheme, address, number) };
    },
    context,
  );
}

/** A number is a port of the service, and stands for its name. @throws a 503 `StatusError` when the service has no such port */
export function portName({ metadata, spec }: Service, { port }: ProxyName): string {
  if (!/^\d+$/.test(port)) return port;
  const found = (spec?.ports ?? []).find((candidate) => candidate.port === Number(port));
  if (found === undefined) throw serviceUnavailable(`no service port ${port} found for service "${metadata.name}"`);
  return found.name ?? '';
}

/** Pure: places that take requests at the moment. */
export function backendsOfSlices(slices: readonly EndpointSlice[], name: string): readonly Backend[] {
  return slices.flatMap(({ endpoints = [], ports = [] }) => {
    const port = ports.find((candidate) => (candidate.name ?? '') === name)?.port;
    if (port === undefined) return [];
    return endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses: [address] }) => (address === undefined ? [] : [{ address, port }]));
  });
}

/** Pure: the same of the older form. */
export function backendsOfEndpoints(all: readonly Endpoints[], name: string): readonly Backend[] {
  return all
    .flatMap(({ subsets = [] }) => subsets)
    .flatMap(({ addresses = [], ports = [] }) => {
      const port = ports.find((candidate) => (candidate.name ?? '') === name)?.port;
      return port === undefined ? [] : addresses.flatMap(({ ip = '' }) => (ip === '' ? [] : [{ address: ip, port }]));
    });
}

/** Whoever may write slices must not make the server call hosts of his choice. */
function oneOf(all: readonly Backend[], { scheme, name, port }: ProxyName): Backend {
  const backends = all.filter(({ address }) => isReachable(address));
  const backend = backends[Math.floor(Math.random() * backends.length)];
  if (backend !== undefined) return backend;
  const asked = scheme === '' ? (port === '' ? name : `${name}:${port}`) : `${scheme}:${name}:${port}`;
  throw serviceUnavailable(`no endpoints available for service "${asked}"`);
}
