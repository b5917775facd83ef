import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { badRequest, notFound, serviceUnavailable } from '#api/status.ts';
import { Unavailable } from '#base/errors.ts';
import { type ProxyResponse, type ProxyTarget, proxyRequest } from '#wire/http/proxy.ts';
import type { HeaderList } from '#wire/http/upgrade-head.ts';
import type { Route, RouteContext, RoutedRequest } from '../request/route.ts';
import { headersOf, type KubeletAccess, kubeletUrl, namesOf } from './kubelet-location.ts';
import { carryUpgrade } from './pod-stream.ts';

/** `nodes/proxy`: every page of a node's kubelet. */
export function nodeProxyRoute(access: KubeletAccess, context: RouteContext): Route {
  return {
    name: 'nodes/proxy',
    matches: (info) => info.kind === 'resource' && info.group === '' && info.resource === 'nodes' && info.subresource === 'proxy',
    async handle(request, signal) {
      if (request.path.endsWith('/proxy') && (request.method === 'GET' || request.method === 'HEAD')) return toSlash(request);
      const target = targetOf(access, context, request);
      const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.body(signal);
      const headers: HeaderList = [...headersOf(request), ...forwardedHeaders(request)];
      return await ask({ method: request.method, headers, body }, target, signal);
    },
    async upgrade(request, socket, head, signal) {
      await carryUpgrade(request, socket, head, targetOf(access, context, request), context, signal);
    },
  };
}

/** `name`, `name:port` or `scheme:name:port`, as upstream's proxies are asked. */
export function parseProxyName(text: string): { readonly scheme: string; readonly name: string; readonly port: string } | undefined {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 1 ? ['', ...parts] : parts.length === 2 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme) || !/^\d*$/.test(port)) return undefined;
  return { scheme, name, port };
}

function targetOf(access: KubeletAccess, context: RouteContext, request: RoutedRequest): ProxyTarget {
  const asked = namesOf(request).name;
  const parsed = parseProxyName(asked);
  if (parsed === undefined) throw badRequest(`invalid node request ${JSON.stringify(asked)}`);
  const node = context.objects.get(nodeKind, '', parsed.name);
  if (node === undefined) throw notFound(nodeKind, parsed.name);
  const url = kubeletUrl(node);
  if (parsed.port !== '' && parsed.port !== url.port) {
    url.port = parsed.port;
    url.protocol = parsed.scheme === 'https' ? 'https:' : 'http:';
  }
  url.pathname = `/${pathBehindProxy(request.path)}`;
  url.search = request.query.toString();
  // The certificate is for the kubelet alone: another port of the node is somebody else.
  return url.port === kubeletUrl(node).port ? { url, tls: access.tls } : { url };
}

/** The part behind `/api/v1/nodes/<name>/proxy/`, as it was sent. */
function pathBehindProxy(path: string): string {
  return path.split('/').slice(6).join('/');
}

function toSlash(request: RoutedRequest): { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array } {
  const query = request.query.toString();
  return { status: 301, headers: { location: `${request.path}/${query === '' ? '' : `?${query}`}` }, body: new Uint8Array() };
}

function forwardedHeaders(request: RoutedRequest): HeaderList {
  const headers: HeaderList = [
    ['X-Forwarded-Uri', request.path],
    ['X-Forwarded-Host', request.headers['host'] ?? ''],
    ['X-Forwarded-Proto', 'https'],
  ];
  return request.remoteAddress === '' ? headers : [...headers, ['X-Forwarded-For', request.remoteAddress]];
}

async function ask(request: Parameters<typeof proxyRequest>[0], target: ProxyTarget, signal: AbortSignal): Promise<ProxyResponse> {
  try {
    return await proxyRequest(request, target, signal);
  } catch (error) {
    if (error instanceof Unavailable) throw serviceUnavailable(`error trying to reach service: ${error.message}`);
    throw error;
  }
}
