import { notAcceptable } from '#api/status.ts';
import { answerObject } from '../request/encode.ts';
import { clausesOf, isMet } from '../request/negotiate.ts';
import type { PathEndpoint, PathRequest } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';
import type { Document, OpenApiDocuments } from './openapi-documents.ts';

const json = 'application/json';
/** Clients ask for the older spelling and are answered in the newer one. */
const protobufV2 = ['application/com.github.proto-openapi.spec.v2.v1.0+protobuf', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'];
const v3Root = '/openapi/v3/';
const oneYearMs = 31_536_000_000;

/** `/openapi/v2` and `/openapi/v3`. @param current what there is now: kinds may come and go */
export function openApiEndpoints(current: () => OpenApiDocuments, nowMs: () => number): readonly PathEndpoint[] {
  return [
    { matches: (path) => path === '/openapi/v2', answer: (request) => answerV2(request, current()) },
    {
      matches: (path) => path === '/openapi/v3',
      answer: async (request) => answerObject(200, { paths: await indexOf(current()) }, { encoding: 'json', isPretty: request.query.has('pretty') }),
    },
    {
      matches: (path) => path.startsWith(v3Root) && current().v3Paths().includes(path.slice(v3Root.length)),
      answer: (request) => answerV3(request, current(), nowMs()),
    },
  ];
}

async function indexOf(documents: OpenApiDocuments): Promise<unknown> {
  const paths: Record<string, unknown> = {};
  for (const path of documents.v3Paths()) {
    paths[path] = { serverRelativeURL: `${v3Root}${path}?hash=${(await documents.v3(path)).hash}` };
    await new Promise((resolve) => setImmediate(resolve)); // making them all takes longer than others should wait
  }
  return paths;
}

async function answerV2(request: PathRequest, documents: OpenApiDocuments): Promise<ApiResponse> {
  for (const clause of clausesOf(request.headers['accept'] ?? '')) {
    if (isMet(clause, json)) return tagged(request, await documents.v2('json'), json, {});
    if (protobufV2.some((type) => isMet(clause, type))) return tagged(request, await documents.v2('protobuf'), protobufV2[0] ?? '', {});
  }
  throw notAcceptable([json, ...protobufV2]);
}

async function answerV3(request: PathRequest, documents: OpenApiDocuments, nowMs: number): Promise<ApiResponse> {
  if (!clausesOf(request.headers['accept'] ?? '').some((clause) => isMet(clause, json))) throw notAcceptable([json]);
  const { path } = request.info;
  const document = await documents.v3(path.slice(v3Root.length));
  const asked = request.query.get('hash') ?? '';
  if (asked === '') return tagged(request, document, json, {});
  if (asked !== document.hash) return { status: 301, headers: { location: `${path}?hash=${document.hash}` }, body: new Uint8Array() };
  // What is found by its hash never changes.
  return tagged(request, document, json, { 'cache-control': 'public, immutable', expires: new Date(nowMs + oneYearMs).toUTCString() });
}

function tagged(request: PathRequest, document: Document, contentType: string, more: Readonly<Record<string, string>>): ApiResponse {
  const etag = `"${document.hash}"`;
  const headers = { 'content-type': contentType, etag, vary: 'Accept', ...more };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers, body: document.bytes };
}
