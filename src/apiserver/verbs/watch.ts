import { apiVersionOf, type Kind } from '#api/kind.ts';
import { badRequest } from '#api/status.ts';
import type { ChangeType } from '../registry/change.ts';
import type { ObjectFilter } from '../registry/object-filter.ts';
import { type StreamFormat, watchStream } from '../registry/watch-stream.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { negotiate, type OutputFormat } from '../request/negotiate.ts';
import { booleanOf, filterOf, integerOf, resourceVersionOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { bookmarkTable, includeObjectOf, partialObject, tableOf } from '../table/table.ts';
import { forbiddenMatch, invalidListOptions } from './list-options.ts';
import { waitForRevision } from './revision-wait.ts';

/** A watch without a timeout ends somewhere in this range, so that clients do not all come back at once. */
const defaultTimeoutMs = { from: 1_800_000, to: 3_600_000 };

export async function watch(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, query } = request;
  const format = negotiate(request.headers, query);
  const filter = named(filterOf(kind, request.info.namespace, query), request.info.name);
  const start = startOf(query);
  if (!start.isFuture) await waitForRevision(context, start.notOlderThan, signal);
  const stream = watchStream(
    {
      index: context.registry.index(kind),
      filter,
      format: streamFormat(context, request, format),
      after: start.after === 'now' ? context.registry.revision : start.after,
      marksInitialEnd: start.marksInitialEnd,
      sendsBookmarks: booleanOf(query, 'allowWatchBookmarks') ?? false,
      timeoutMs: timeoutMsOf(query),
      clock: context.clock,
      revision: () => context.registry.revision,
    },
    signal,
  );
  return { status: 200, headers: { 'content-type': 'application/json' }, body: stream };
}

/** The old form `/watch/…/name` says the name in its path; what was authorized for one name must not show others. */
function named(filter: ObjectFilter, name: string): ObjectFilter {
  if (name === '') return filter;
  return { ...filter, fields: (values) => values['metadata.name'] === name && (filter.fields?.(values) ?? true) };
}

interface Start {
  /** undefined: the present objects first. */
  readonly after: number | 'now' | undefined;
  readonly notOlderThan: number | undefined;
  /** A watch of what is yet to come does not wait for it. */
  readonly isFuture: boolean;
  readonly marksInitialEnd: boolean;
}

function startOf(query: URLSearchParams): Start {
  const revision = resourceVersionOf(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const sendsInitial = booleanOf(query, 'sendInitialEvents');
  if (sendsInitial === undefined) {
    if (match !== '') throw invalidListOptions(forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    const hasRevision = revision !== undefined && revision > 0;
    return { after: hasRevision ? revision : undefined, notOlderThan: revision, isFuture: hasRevision, marksInitialEnd: false };
  }
  if (match !== 'NotOlderThan') {
    throw invalidListOptions(forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (!sendsInitial) {
    const hasRevision = revision !== undefined && revision > 0;
    return { after: hasRevision ? revision : 'now', notOlderThan: revision, isFuture: hasRevision, marksInitialEnd: false };
  }
  return { after: undefined, notOlderThan: revision, isFuture: false, marksInitialEnd: booleanOf(query, 'allowWatchBookmarks') ?? false };
}

function timeoutMsOf(query: URLSearchParams): number {
  const seconds = integerOf(query, 'timeoutSeconds') ?? 0;
  if (seconds < 0) throw badRequest('timeoutSeconds must not be negative');
  if (seconds > 0) return Math.min(seconds, 86_400) * 1000;
  return defaultTimeoutMs.from + Math.random() * (defaultTimeoutMs.to - defaultTimeoutMs.from);
}

function streamFormat(context: ServerContext, request: KindRequest, format: OutputFormat): StreamFormat {
  const { kind } = request;
  switch (format.as) {
    case 'object':
      return plainFormat(kind);
    case 'Table':
      return tableFormat(context, request, format.version);
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return {
        sharedAs: `partial ${format.version}`,
        encode: (type, object) => line(type, partialObject(object, format.version)),
        encodeBookmark: (revision, endsInitialEvents) =>
          line('BOOKMARK', bookmark('PartialObjectMetadata', `meta.k8s.io/${format.version}`, revision, endsInitialEvents)),
        encodeError: (status) => line('ERROR', JSON.stringify(status)),
      };
  }
}

const lineEnd = Buffer.from('}\n');

function plainFormat(kind: Kind): StreamFormat {
  return {
    sharedAs: 'plain',
    encode: (type, object) => Buffer.concat([lineStart(type), object.json(), lineEnd]),
    encodeBookmark: (revision, endsInitialEvents) => line('BOOKMARK', bookmark(kind.kind, apiVersionOf(kind), revision, endsInitialEvents)),
    encodeError: (status) => line('ERROR', JSON.stringify(status)),
  };
}

/** Only the first event carries the columns, and ages change: a table's lines belong to one watcher. */
function tableFormat(context: ServerContext, request: KindRequest, version: string): StreamFormat {
  const includeObject = includeObjectOf(request.query);
  let needsColumns = true;
  const table = () => ({ kind: request.kind, version, includeObject, nowMs: context.clock.now() });
  return {
    sharedAs: undefined,
    encode: (type, object) => {
      const withColumns = needsColumns;
      needsColumns = false;
      return line(type, tableOf([object], { resourceVersion: String(object.revision) }, table(), withColumns));
    },
    encodeBookmark: (revision, endsInitialEvents) =>
      line('BOOKMARK', bookmarkTable(bookmark(request.kind.kind, apiVersionOf(request.kind), revision, endsInitialEvents), table())),
    encodeError: (status) => line('ERROR', JSON.stringify(status)),
  };
}

const lineStarts = new Map<string, Buffer>();

function lineStart(type: ChangeType): Buffer {
  const known = lineStarts.get(type);
  if (known !== undefined) return known;
  const start = Buffer.from(`{"type":"${type}","object":`);
  lineStarts.set(type, start);
  return start;
}

function line(type: ChangeType | 'BOOKMARK' | 'ERROR', json: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${json}}\n`);
}

function bookmark(kind: string, apiVersion: string, revision: number, endsInitialEvents: boolean): string {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null };
  const marked = endsInitialEvents ? { ...metadata, annotations: { 'k8s.io/initial-events-end': 'true' } } : metadata;
  return JSON.stringify({ kind, apiVersion, metadata: marked });
}
