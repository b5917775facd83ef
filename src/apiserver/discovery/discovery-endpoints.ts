import { answer, answerObject } from '../request/encode.ts';
import { clausesOf, negotiate } from '../request/negotiate.ts';
import { type PathEndpoint, type PathRequest, withoutTrailingSlash } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';
import type { DiscoveryDocuments } from './documents.ts';
import { versionInfo } from './version.ts';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** `/`, `/version`, `/api`, `/apis` and what is below them. */
export function discoveryEndpoints(documents: DiscoveryDocuments): readonly PathEndpoint[] {
  return [
    { matches: (path) => path === '/', answer: async (request) => plain(request, { paths: documents.paths() }) },
    { matches: (path) => path === '/version', answer: async (request) => plain(request, versionInfo()) },
    { matches: (path) => path === '/api', answer: async (request) => root(request, documents, 'api') },
    { matches: (path) => path === '/apis', answer: async (request) => root(request, documents, 'apis') },
    { matches: (path) => findIn(documents, path) !== undefined, answer: async (request) => plain(request, findIn(documents, request.info.path)) },
  ];
}

function findIn(documents: DiscoveryDocuments, path: string): unknown {
  const [root, first, second, ...more] = withoutTrailingSlash(path).split('/').slice(1);
  if (more.length > 0 || first === undefined) return undefined;
  if (root === 'api') return second === undefined ? documents.resourceList('', first) : undefined;
  if (root !== 'apis') return undefined;
  return second === undefined ? documents.group(first) : documents.resourceList(first, second);
}

function plain(request: PathRequest, document: unknown): ApiResponse {
  return answerObject(200, document, negotiate(request.headers, request.query));
}

function root(request: PathRequest, documents: DiscoveryDocuments, which: 'api' | 'apis'): ApiResponse {
  if (!prefersAggregated(request.headers['accept'] ?? '')) {
    return plain(request, which === 'api' ? documents.coreVersions(request.headers['host'] ?? '') : documents.groupList());
  }
  const { json, etag } = documents.aggregated(which);
  const headers = { 'content-type': aggregatedType, etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  return { ...answer(200, Buffer.from(json), { encoding: 'json', isPretty: false }), headers };
}

/** Whether the first clause that this server can meet asks for the aggregated form. */
function prefersAggregated(accept: string): boolean {
  for (const { type, parameters } of clausesOf(accept)) {
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    if (parameters.get('as') === undefined) return false;
    const isOurs = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2' && parameters.get('as') === 'APIGroupDiscoveryList';
    if (isOurs && !parameters.has('profile')) return true;
  }
  return false;
}
