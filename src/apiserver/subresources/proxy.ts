import { badRequest, serviceUnavailable } from '#api/status.ts';
import { Unavailable } from '#base/errors.ts';
import { type ProxyResponse, type ProxyTarget, proxyRequest } from '#wire/http/proxy.ts';
import type { HeaderList } from '#wire/http/upgrade-head.ts';
import type { ApiResponse, Route, RouteContext, RoutedRequest } from '../request/route.ts';
import { headersOf, namesOf } from './kubelet-location.ts';
import { carryUpgrade } from './pod-stream.ts';
import { type LinkBase, rewriteLinks, rewriteLocation } from './proxied-links.ts';

/** What a proxy is asked for. */
export interface ProxyName {
  /** '' is `http`, or what the backend has. */
  readonly scheme: string;
  readonly name: string;
  /** A number or a name; '' is the first one. */
  readonly port: string;
}

/** Where something of this name is reached, without path and query. @throws a `StatusError` */
export type LocateBackend = (context: RouteContext, request: RoutedRequest, asked: ProxyName) => ProxyTarget;

/** `nodes/proxy`, `pods/proxy`, `services/proxy`: every page of what is behind the name. */
export function proxyRoute(resource: 'nodes' | 'pods' | 'services', locate: LocateBackend, context: RouteContext): Route {
  const targetOf = (request: RoutedRequest): ProxyTarget => {
    const asked = namesOf(request).name;
    const parsed = parseProxyName(asked);
    if (parsed === undefined) throw badRequest(`invalid ${resource.slice(0, -1)} request ${JSON.stringify(asked)}`);
    const target = locate(context, request, parsed);
    const url = new URL(target.url);
    url.pathname = `/${behindProxy(request)}`;
    url.search = request.query.toString();
    return { ...target, url };
  };
  return {
    name: `${resource}/proxy`,
    matches: (info) => info.kind === 'resource' && info.group === '' && info.resource === resource && info.subresource === 'proxy',
    async handle(request, signal) {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (isRead && prefixOf(request) === request.path) return toSlash(request);
      const target = targetOf(request);
      const body = isRead ? undefined : await request.body(signal);
      const headers: HeaderList = [...sentOn(request), ...forwardedHeaders(request)];
      const response = await ask({ method: request.method, headers, body }, target, signal);
      return withOwnLinks(response, { prefix: prefixOf(request), hosts: [target.url.host, request.headers['host'] ?? ''] });
    },
    async upgrade(request, socket, head, signal) {
      await carryUpgrade(request, socket, head, targetOf(request), context, signal);
    },
  };
}

/** `name`, `name:port` or `scheme:name:port`. */
export function parseProxyName(text: string): ProxyName | undefined {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  return parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme) ? undefined : { scheme, name, port };
}

/** @param address of IP version 4 or 6 @throws a 400 `StatusError` for a port that is no number: `80@elsewhere` would make the address a user's name */
export function backendUrl(scheme: string, address: string, port: string | number): URL {
  if (!/^\d{0,5}$/.test(String(port))) throw badRequest(`invalid port ${JSON.stringify(String(port))}`);
  const host = address.includes(':') ? `[${address}]` : address;
  const url = `${scheme === '' ? 'http' : scheme}://${host}${port === '' ? '' : `:${port}`}`;
  if (!URL.canParse(url)) throw badRequest(`invalid port ${JSON.stringify(String(port))}`);
  return new URL(url);
}

const pathOfResource = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+\/proxy/;

/** The part up to `/proxy`, as it was sent. */
function prefixOf({ path }: RoutedRequest): string {
  return pathOfResource.exec(path)?.[0] ?? path;
}

function behindProxy(request: RoutedRequest): string {
  return request.path.slice(prefixOf(request).length).replace(/^\//, '');
}

/** A page's links are relative to it: they work only behind a slash. */
function toSlash(request: RoutedRequest): ApiResponse {
  const query = request.query.toString();
  return { status: 301, headers: { location: `${request.path}/${query === '' ? '' : `?${query}`}` }, body: new Uint8Array() };
}

/** Pages whose links are rewritten must come as they are. */
function sentOn(request: RoutedRequest): HeaderList {
  const isPage = (request.headers['accept'] ?? '').includes('text/html');
  return isPage ? headersOf(request).filter(([name]) => name.toLowerCase() !== 'accept-encoding') : headersOf(request);
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

function withOwnLinks(response: ProxyResponse, base: LinkBase): ProxyResponse {
  const { location, 'content-type': type, 'content-encoding': encoding, 'content-length': _length, ...others } = response.headers;
  const moved = typeof location === 'string' ? { ...response.headers, location: rewriteLocation(location, base) } : response.headers;
  const isPage = typeof type === 'string' && /^text\/html\b/i.test(type) && encoding === undefined;
  if (!isPage) return { ...response, headers: moved };
  const kept = { ...others, 'content-type': type, ...('location' in moved ? { location: moved.location } : {}) };
  return { ...response, headers: kept, body: page(response.body, base) };
}

async function* page(body: AsyncIterable<Uint8Array>, base: LinkBase): AsyncGenerator<Uint8Array, void, void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  yield Buffer.from(rewriteLinks(Buffer.concat(chunks).toString(), base));
}
