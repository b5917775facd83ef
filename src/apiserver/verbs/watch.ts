import { parseFieldSelector } from '#api/selector.ts';
import { badRequest, StatusError } from '#api/status.ts';
import type { ObjectFilter } from '../registry/object-filter.ts';
import { type WatchStreamOptions, watchStream } from '../registry/watch-stream.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { mediaTypes, negotiate, watchOffer } from '../request/negotiate.ts';
import { booleanOf, filterOf, integerOf, resourceVersionOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { invalidListOptions, watchProblems } from './list-options.ts';
import { waitForRevision } from './revision-wait.ts';
import { watchFormat } from './watch-format.ts';

/** A watch without a timeout ends somewhere in this range, so that clients do not all come back at once. */
const defaultTimeoutMs = { from: 1_800_000, to: 3_600_000 };

export async function watch(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info, query } = request;
  const { registry, clock } = context;
  const format = negotiate(request.headers, query, watchOffer);
  const filter = named(filterOf(kind, info.namespace, query), info.name, query);
  const start = startOf(query);
  const stream = begun(
    context,
    start.waitsFor,
    {
      index: registry.index(kind),
      filter,
      format: watchFormat(context, request, format),
      after: start.after === 'now' ? registry.revision : start.after,
      marksInitialEnd: start.marksInitialEnd,
      sendsBookmarks: booleanOf(query, 'allowWatchBookmarks') ?? false,
      timeoutMs: timeoutMsOf(query),
      clock,
      revision: () => registry.revision,
    },
    signal,
  );
  const contentType = format.encoding === 'protobuf' ? `${mediaTypes.protobuf};stream=watch` : mediaTypes.json;
  return { status: 200, headers: { 'content-type': contentType }, body: stream };
}

/** What goes wrong once the stream is there is told in it. */
async function* begun(
  context: ServerContext,
  waitsFor: Start['waitsFor'],
  options: WatchStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (waitsFor !== 'nothing') await waitForRevision(context, waitsFor, signal);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    yield options.format.encodeError(error.status);
    return;
  }
  yield* watchStream(options, signal);
}

/** The old form `/watch/…/name` says the name in its path; what was authorized for one name must not show others. */
function named(filter: ObjectFilter, name: string, query: URLSearchParams): ObjectFilter {
  if (name === '') return filter;
  const selected = parseFieldSelector(query.get('fieldSelector') ?? '').requirements.filter(({ field }) => field === 'metadata.name');
  const isContradiction = selected.some(({ operator, value }) => (value === name) !== (operator === '='));
  if (isContradiction) throw badRequest("fieldSelector metadata.name doesn't match requested name");
  const { fields } = filter;
  return { ...filter, fields: (values) => values['metadata.name'] === name && (fields?.(values) ?? true) };
}

interface Start {
  /** undefined: the present objects first. */
  readonly after: number | 'now' | undefined;
  /** As in `waitForRevision`: a watch of what is yet to come does not wait for it. */
  readonly waitsFor: number | undefined | 'nothing';
  readonly marksInitialEnd: boolean;
}

function startOf(query: URLSearchParams): Start {
  const revision = resourceVersionOf(query);
  const problems = watchProblems(query);
  if (problems.length > 0) throw invalidListOptions(problems);
  const hasRevision = revision !== undefined && revision > 0;
  if (!query.has('sendInitialEvents')) {
    return { after: hasRevision ? revision : undefined, waitsFor: hasRevision ? 'nothing' : revision, marksInitialEnd: false };
  }
  if (booleanOf(query, 'sendInitialEvents')) {
    return { after: undefined, waitsFor: revision, marksInitialEnd: booleanOf(query, 'allowWatchBookmarks') ?? false };
  }
  return { after: hasRevision ? revision : 'now', waitsFor: 'nothing', marksInitialEnd: false };
}

function timeoutMsOf(query: URLSearchParams): number {
  const seconds = integerOf(query, 'timeoutSeconds') ?? 0;
  if (seconds < 0) throw badRequest('timeoutSeconds must not be negative');
  if (seconds > 0) return Math.min(seconds, 86_400) * 1000;
  return defaultTimeoutMs.from + Math.random() * (defaultTimeoutMs.to - defaultTimeoutMs.from);
}
