import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { badRequest, notFound, unnamedError } from '#api/status.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import type { ProxyTls } from '#wire/http/proxy.ts';
import { type HeaderList, headerPairs } from '#wire/http/upgrade-head.ts';
import type { RouteContext, RoutedRequest } from '../request/route.ts';

/** How this server reaches kubelets. */
export interface KubeletAccess {
  /** The client certificate that kubelets know; without `caPem` their own certificates are not checked. */
  readonly tls: ProxyTls;
}

/** @throws {StatusError} 404 */
export function podOf(context: RouteContext, request: RoutedRequest): Pod {
  const { namespace, name } = namesOf(request);
  const pod = context.objects.get(podKind, namespace, name);
  if (pod === undefined) throw notFound(podKind, name);
  return pod;
}

/** The kubelet that runs the pod. @throws {StatusError} when the pod is on no node, or the node cannot be found */
export function kubeletOf(context: RouteContext, pod: Pod): URL {
  const nodeName = pod.spec?.nodeName ?? '';
  if (nodeName === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  const node = context.objects.get(nodeKind, '', nodeName);
  if (node === undefined) throw notFound(nodeKind, nodeName);
  return kubeletUrl(node);
}

/** @throws {StatusError} when the node has told no address */
export function kubeletUrl(node: Node): URL {
  const addresses = node.status?.addresses ?? [];
  const preferred = addressTypes.flatMap((type) => addresses.filter((address) => address.type === type))[0];
  if (preferred === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw unnamedError(`no preferred addresses found; known addresses: [${known}]`);
  }
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const host = preferred.address.includes(':') ? `[${preferred.address}]` : preferred.address;
  return new URL(`https://${host}:${port === 0 ? defaultKubeletPort : port}`);
}

/** @param segments are encoded here */
export function kubeletPath(kubelet: URL, segments: readonly string[], query: URLSearchParams): URL {
  const url = new URL(kubelet);
  url.pathname = `/${segments.map(encodeURIComponent).join('/')}`;
  url.search = query.toString();
  return url;
}

/** What the client sent, in its own order and spelling where that is known. */
export function headersOf(request: RoutedRequest): HeaderList {
  return request.rawHeaders.length > 0 ? headerPairs(request.rawHeaders) : Object.entries(request.headers);
}

export function namesOf(request: RoutedRequest): { readonly namespace: string; readonly name: string } {
  if (request.info.kind !== 'resource') throw badRequest('not a resource request');
  return request.info;
}

/** A flag of a query is set by any value but `false` and `0`: upstream's decoder. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** InternalIP first: names of nodes are in no DNS here. */
const addressTypes = ['InternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS', 'ExternalIP'];
const defaultKubeletPort = 10_250;
