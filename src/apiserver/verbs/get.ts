import { failure, notFound } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { answer } from '../request/encode.ts';
import { negotiate, type OutputFormat } from '../request/negotiate.ts';
import { resourceVersionOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { goTypeOf, includeObjectOf, partialObject, tableOf } from '../table/table.ts';
import { waitForRevision } from './revision-wait.ts';

export async function get(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info, query } = request;
  const format = negotiate(request.headers, query);
  await waitForRevision(context, resourceVersionOf(query), signal);
  const index = context.registry.index(kind);
  const entry = index.get(index.storage.keyOf(info.namespace, info.name));
  if (entry === undefined) throw notFound(kind, info.name);
  return answerEntry(200, entry, request, format, context);
}

/** One object in the form that was asked for. @throws a 406 `StatusError` when that is a list */
export function answerEntry(
  status: number,
  entry: IndexedObject,
  request: KindRequest,
  format: OutputFormat,
  context: ServerContext,
  warnings: readonly string[] = [],
): ApiResponse {
  switch (format.as) {
    case 'object':
      return answer(status, entry.json(), format, warnings);
    case 'PartialObjectMetadata':
      return answer(status, Buffer.from(partialObject(entry, format.version)), format, warnings);
    case 'Table': {
      const table = { kind: request.kind, version: format.version, includeObject: includeObjectOf(request.query), nowMs: context.clock.now() };
      return answer(status, Buffer.from(tableOf([entry], { resourceVersion: String(entry.revision) }, table, true)), format, warnings);
    }
    case 'PartialObjectMetadataList':
      throw failure(
        406,
        'NotAcceptable',
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(request.kind)})`,
      );
  }
}
