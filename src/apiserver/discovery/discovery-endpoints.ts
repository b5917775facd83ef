import { answerObject } from '../request/encode.ts';
import { clausesOf, documentOffer, isMet, negotiate } from '../request/negotiate.ts';
import { type PathEndpoint, type PathRequest, withoutTrailingSlash } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';
import type { DiscoveryDocuments } from './documents.ts';
import { versionInfo } from './version.ts';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** `/`, `/version`, `/api`, `/apis` and what is below them. @param current what there is now: kinds may come and go */
export function discoveryEndpoints(current: () => DiscoveryDocuments): readonly PathEndpoint[] {
  return [
    { matches: (path) => path === '/', answer: async () => indented({ paths: current().paths() }) },
    { matches: (path) => path === '/version', answer: async () => indented(versionInfo()) },
    { matches: (path) => path === '/api', answer: async (request) => root(request, current(), 'api') },
    { matches: (path) => path === '/apis', answer: async (request) => root(request, current(), 'apis') },
    { matches: (path) => findIn(current(), path) !== undefined, answer: async (request) => plain(request, findIn(current(), request.info.path)) },
  ];
}

function findIn(documents: DiscoveryDocuments, path: string): unknown {
  const [root, first, second, ...more] = withoutTrailingSlash(path).split('/').slice(1);
  if (more.length > 0 || first === undefined) return undefined;
  if (root === 'api') return second === undefined ? documents.resourceList('', first) : undefined;
  if (root !== 'apis') return undefined;
  return second === undefined ? documents.group(first) : documents.resourceList(first, second);
}

/** Of no kind: there is nothing to negotiate. */
function indented(document: unknown): ApiResponse {
  return answerObject(200, document, { encoding: 'json', isPretty: true });
}

function plain(request: PathRequest, document: unknown): ApiResponse {
  return answerObject(200, document, negotiate(request.headers, request.query, documentOffer));
}

function root(request: PathRequest, documents: DiscoveryDocuments, which: 'api' | 'apis'): ApiResponse {
  const contentType = aggregatedTypeFor(request.headers['accept'] ?? '');
  if (contentType === undefined) {
    return plain(request, which === 'api' ? documents.coreVersions(request.headers['host'] ?? '') : documents.groupList());
  }
  const { json, etag } = documents.aggregated(which);
  const headers = { 'content-type': contentType, etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers, body: json };
}

/** When the first clause that this server can meet asks for the aggregated form; clients know the form by this header alone. */
function aggregatedTypeFor(accept: string): string | undefined {
  for (const clause of clausesOf(accept)) {
    if (!isMet(clause, 'application/json')) continue;
    const { parameters } = clause;
    if (parameters.get('as') === undefined) return undefined;
    const isOurs = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2' && parameters.get('as') === 'APIGroupDiscoveryList';
    const profile = parameters.get('profile') ?? '';
    if (isOurs && (profile === '' || profile === 'nopeer')) return profile === '' ? aggregatedType : `${aggregatedType};profile=${profile}`;
  }
  return undefined;
}
