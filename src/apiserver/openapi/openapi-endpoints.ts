import { createHash } from 'node:crypto';
import type { Kind } from '#api/kind.ts';
import { openApiV2, openApiV3 } from '#api/schema/openapi/documents.ts';
import { encodeOpenApiV2 } from '#api/schema/openapi/protobuf-v2.ts';
import { kubernetesVersion } from '../discovery/version.ts';
import { answerObject } from '../request/encode.ts';
import { clausesOf } from '../request/negotiate.ts';
import { type PathEndpoint, type PathRequest, withoutTrailingSlash } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';

const protobufV2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const oneYearSeconds = 31_536_000;

interface Document {
  readonly bytes: Uint8Array;
  /** Upper-case hex, changes with the content. */
  readonly hash: string;
}

/** `/openapi/v2` and `/openapi/v3`. Documents are large and made when first asked for. */
export function openApiEndpoints(kinds: readonly Kind[]): readonly PathEndpoint[] {
  const { gitVersion } = kubernetesVersion;
  const v2 = { json: lazily(() => json(openApiV2(kinds, gitVersion))), protobuf: lazily(() => encodeOpenApiV2(openApiV2(kinds, gitVersion))) };
  const v3 = new Map(
    kinds.map(({ group, version }) => [groupVersionPath(group, version), lazily(() => json(openApiV3(kinds, group, version, gitVersion)))]),
  );
  return [
    { matches: (path) => path === '/openapi/v2', answer: async (request) => answerV2(request, v2) },
    {
      matches: (path) => path === '/openapi/v3',
      answer: async (request) => answerObject(200, { paths: indexOf(v3) }, { encoding: 'json', isPretty: request.query.has('pretty') }),
    },
    { matches: (path) => v3.has(path.replace(/^\/openapi\/v3\//, '')), answer: async (request) => answerV3(request, v3) },
  ];
}

type Lazy = () => Document;

function lazily(make: () => Uint8Array): Lazy {
  let known: Document | undefined;
  return () => {
    if (known === undefined) {
      const bytes = make();
      known = { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
    }
    return known;
  };
}

function json(document: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(document));
}

function groupVersionPath(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function indexOf(documents: ReadonlyMap<string, Lazy>): unknown {
  return Object.fromEntries([...documents].map(([path, document]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${document().hash}` }]));
}

function answerV2(request: PathRequest, v2: { readonly json: Lazy; readonly protobuf: Lazy }): ApiResponse {
  const wantsProtobuf = clausesOf(request.headers['accept'] ?? '')[0]?.type.startsWith('application/com.github.proto-openapi.spec.v2') ?? false;
  return tagged(request, wantsProtobuf ? v2.protobuf() : v2.json(), wantsProtobuf ? protobufV2 : 'application/json', {});
}

function answerV3(request: PathRequest, documents: ReadonlyMap<string, Lazy>): ApiResponse {
  const path = withoutTrailingSlash(request.info.path);
  const document = documents.get(path.replace(/^\/openapi\/v3\//, ''))?.();
  if (document === undefined) throw new Error(`${path} was matched and is not there`);
  const asked = request.query.get('hash');
  if (asked === null) return tagged(request, document, 'application/json', {});
  if (asked !== document.hash) {
    return { status: 301, headers: { location: `${path}?hash=${document.hash}` }, body: new Uint8Array() };
  }
  return tagged(request, document, 'application/json', { 'cache-control': `public, immutable, max-age=${oneYearSeconds}` });
}

function tagged(request: PathRequest, document: Document, contentType: string, more: Readonly<Record<string, string>>): ApiResponse {
  const etag = `"${document.hash}"`;
  const headers = { 'content-type': contentType, etag, vary: 'Accept', ...more };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers, body: document.bytes };
}
