import { apiVersionOf } from '#api/kind.ts';
import { expired, failure, resourceVersionTooLarge } from '#api/status.ts';
import { RevisionCompacted, RevisionInFuture } from '#store/storage.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import { candidates, isSelective, type ObjectFilter, passes } from '../registry/object-filter.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { answer } from '../request/encode.ts';
import { negotiate, type OutputFormat } from '../request/negotiate.ts';
import { filterOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { goTypeOf, includeObjectOf, partialObject, type TableMeta, tableOf } from '../table/table.ts';
import { encodeContinueToken } from './continue-token.ts';
import { type ListOptions, listOptionsOf } from './list-options.ts';
import { waitForRevision } from './revision-wait.ts';

const tooOldToContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
  'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token ' +
  'results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and ' +
  'now may show up in the list.';

export async function list(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const format = negotiate(request.headers, request.query);
  const { page, meta } = await pageOf(context, request, signal);
  return answerList(context, request, format, page, meta);
}

/** The objects of a list request: also what a deletion of a collection is about. */
export async function pageOf(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<Page> {
  const filter = filterOf(request.kind, request.info.namespace, request.query);
  const options = listOptionsOf(request.query);
  const state = await stateOf(context, request, filter, options, signal);
  const limit = options.notOlderThan === 0 && options.continued === undefined ? 0 : options.limit;
  return cut(context, request, state, filter, limit, options.continued?.after);
}

interface State {
  readonly objects: readonly IndexedObject[];
  readonly revision: number;
}

interface Page {
  readonly page: readonly IndexedObject[];
  readonly meta: TableMeta;
}

async function stateOf(
  context: ServerContext,
  request: KindRequest,
  filter: ObjectFilter,
  options: ListOptions,
  signal: AbortSignal,
): Promise<State> {
  const { registry } = context;
  const wanted = options.continued?.revision ?? options.exactRevision ?? -1;
  if (wanted < 0) await waitForRevision(context, options.continued === undefined ? options.notOlderThan : undefined, signal);
  if (wanted < 0 || wanted === registry.revision) return { objects: candidates(registry.index(request.kind), filter), revision: registry.revision };
  const kept = registry.pages.find(whatOf(request, filter), wanted);
  if (kept !== undefined) return { objects: kept, revision: wanted };
  try {
    return { objects: await registry.listAt(request.kind, filter.namespace, wanted, signal), revision: wanted };
  } catch (error) {
    if (error instanceof RevisionInFuture) throw resourceVersionTooLarge(wanted, registry.revision);
    if (!(error instanceof RevisionCompacted)) throw error;
    if (options.continued === undefined) throw expired('The resourceVersion for the provided list is too old.');
    throw expired(tooOldToContinue, encodeContinueToken({ ...options.continued, revision: -1 }));
  }
}

function cut(context: ServerContext, request: KindRequest, state: State, filter: ObjectFilter, limit: number, after: string | undefined): Page {
  const page: IndexedObject[] = [];
  for (let position = after === undefined ? 0 : firstAfter(state.objects, after); position < state.objects.length; position++) {
    const object = state.objects[position];
    if (object === undefined || !passes(filter, object.key, object.facts)) continue;
    if (limit > 0 && page.length === limit) {
      context.registry.pages.keep(whatOf(request, filter), state.revision, state.objects);
      const meta = {
        resourceVersion: String(state.revision),
        continue: encodeContinueToken({ revision: state.revision, after: page.at(-1)?.key ?? '' }),
      };
      return { page, meta: isSelective(filter) ? meta : { ...meta, remainingItemCount: state.objects.length - position } };
    }
    page.push(object);
  }
  return { page, meta: { resourceVersion: String(state.revision) } };
}

/** The position of the first object with a greater key. */
function firstAfter(objects: readonly IndexedObject[], key: string): number {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((objects[middle]?.key ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function whatOf({ kind }: KindRequest, filter: ObjectFilter): string {
  return `${apiVersionOf(kind)}/${kind.plural}/${filter.namespace}`;
}

export function answerList(
  context: ServerContext,
  request: KindRequest,
  format: OutputFormat,
  page: readonly IndexedObject[],
  meta: TableMeta,
): ApiResponse {
  const { kind, query } = request;
  switch (format.as) {
    case 'object': {
      const head = `{"kind":"${kind.kind}List","apiVersion":"${apiVersionOf(kind)}","metadata":${JSON.stringify(meta)},"items":[`;
      return answer(200, joined(head, page, ']}'), format);
    }
    case 'PartialObjectMetadataList': {
      const items = page.map((object) => partialObject(object, format.version)).join(',');
      const head = `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${format.version}"`;
      return answer(200, Buffer.from(`{${head},"metadata":${JSON.stringify(meta)},"items":[${items}]}`), format);
    }
    case 'Table': {
      const table = { kind, version: format.version, includeObject: includeObjectOf(query), nowMs: context.clock.now() };
      return answer(200, Buffer.from(tableOf(page, meta, table, true)), format);
    }
    case 'PartialObjectMetadata':
      throw failure(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${goTypeOf(kind)}List)`);
  }
}

const comma = Buffer.from(',');

function joined(head: string, page: readonly IndexedObject[], end: string): Buffer {
  const pieces: Buffer[] = [Buffer.from(head)];
  for (const [position, object] of page.entries()) {
    if (position > 0) pieces.push(comma);
    pieces.push(object.item);
  }
  pieces.push(Buffer.from(end));
  return Buffer.concat(pieces);
}
