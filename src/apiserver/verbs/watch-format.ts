import { apiVersionOf } from '#api/kind.ts';
import { encodeObject } from '#api/schema/protobuf/encode-object.ts';
import { encodeWatchFrame } from '#api/schema/protobuf/watch-frame.ts';
import type { ChangeType } from '../registry/change.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { StreamFormat } from '../registry/watch-stream.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import type { OutputFormat } from '../request/negotiate.ts';
import { bookmarkTable, includeObjectOf, partialObject, tableOf } from '../table/table.ts';

type EventType = ChangeType | 'BOOKMARK' | 'ERROR';

/** How the events of a watch are written. @throws a `StatusError` for a bad `includeObject` */
export function watchFormat(context: ServerContext, request: KindRequest, format: OutputFormat): StreamFormat {
  const isBinary = format.encoding === 'protobuf';
  switch (format.as) {
    case 'object':
      return objectFormat(request, isBinary);
    case 'Table':
      return tableFormat(context, request, format.version);
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return partialFormat(format.version, isBinary);
  }
}

function objectFormat({ kind }: KindRequest, isBinary: boolean): StreamFormat {
  const whole = isBinary
    ? (type: ChangeType, object: IndexedObject) => encodeWatchFrame(type, encodeObject({ ...object.object() }))
    : (type: ChangeType, object: IndexedObject) => Buffer.concat([lineStart(type), object.json(), lineEnd]);
  return { sharedAs: isBinary ? 'binary' : 'plain', encode: whole, ...endings(kind.kind, apiVersionOf(kind), isBinary) };
}

function partialFormat(version: string, isBinary: boolean): StreamFormat {
  return {
    sharedAs: `partial ${version} ${isBinary}`,
    encode: (type, object) => event(type, partialObject(object, version), isBinary),
    ...endings('PartialObjectMetadata', `meta.k8s.io/${version}`, isBinary),
  };
}

function endings(kind: string, apiVersion: string, isBinary: boolean): Pick<StreamFormat, 'encodeBookmark' | 'encodeError'> {
  return {
    encodeBookmark: (revision, endsInitialEvents) => event('BOOKMARK', bookmark(kind, apiVersion, revision, endsInitialEvents), isBinary),
    encodeError: (status) => event('ERROR', JSON.stringify(status), isBinary),
  };
}

/** Only the first event carries the columns, and ages change: a table's lines belong to one watcher. */
function tableFormat(context: ServerContext, { kind, query }: KindRequest, version: string): StreamFormat {
  const includeObject = includeObjectOf(query);
  let needsColumns = true;
  const table = () => ({ kind, version, includeObject, nowMs: context.clock.now() });
  const columnsOnce = () => {
    const isFirst = needsColumns;
    needsColumns = false;
    return isFirst;
  };
  return {
    sharedAs: undefined,
    encode: (type, object) => event(type, tableOf([object], { resourceVersion: String(object.revision) }, table(), columnsOnce()), false),
    encodeBookmark: (revision, endsInitialEvents) => {
      const marker = bookmark(kind.kind, apiVersionOf(kind), revision, endsInitialEvents);
      return event('BOOKMARK', bookmarkTable(marker, String(revision), table(), columnsOnce()), false);
    },
    encodeError: (status) => event('ERROR', JSON.stringify(status), false),
  };
}

function event(type: EventType, json: string, isBinary: boolean): Uint8Array {
  return isBinary ? encodeWatchFrame(type, encodeObject(JSON.parse(json))) : Buffer.from(`{"type":"${type}","object":${json}}\n`);
}

const lineEnd = Buffer.from('}\n');
const lineStarts = new Map<string, Buffer>();

function lineStart(type: ChangeType): Buffer {
  const known = lineStarts.get(type);
  if (known !== undefined) return known;
  const start = Buffer.from(`{"type":"${type}","object":`);
  lineStarts.set(type, start);
  return start;
}

function bookmark(kind: string, apiVersion: string, revision: number, endsInitialEvents: boolean): string {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null };
  const marked = endsInitialEvents ? { ...metadata, annotations: { 'k8s.io/initial-events-end': 'true' } } : metadata;
  return JSON.stringify({ kind, apiVersion, metadata: marked });
}
