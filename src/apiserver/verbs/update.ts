import type { KubeObject } from '#api/object.ts';
import { invalid } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { type Writer, writerOf } from '../request/writer.ts';
import { answerEntry } from './get.ts';
import { checkName, checkNamespace, placed } from './place.ts';
import { type UpdateRequest, updateObject } from './update-object.ts';
import { updateOrCreate } from './update-or-create.ts';

/** PUT of an object or of its status. */
export async function update(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const options = writeOptionsOf(request.query, 'UpdateOptions');
  const writer = writerOf(request, options);
  const decoded = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', kind, options, writer.warn);
  checkNamespace(kind, decoded, info.namespace, 'update');
  checkName(decoded, info.name);
  const object = placed(kind, decoded, info.namespace);
  checkRevisionGiven(request, object);
  const { entry, isNew } = await put(context, request, object, writer, signal);
  return answerEntry(isNew ? 201 : 200, entry, request, format, context, writer.warnings);
}

async function put(
  context: ServerContext,
  request: KindRequest,
  object: KubeObject,
  writer: Writer,
  signal: AbortSignal,
): Promise<{ readonly entry: IndexedObject; readonly isNew: boolean }> {
  const { kind, info } = request;
  const { namespace, name, subresource } = info;
  const change: UpdateRequest = { kind, namespace, name, subresource, writer, change: () => object };
  if (!kind.createsOnUpdate) return { entry: await updateObject(context, change, signal), isNew: false };
  return updateOrCreate(context, request, change, () => ({ kind, namespace, object: withoutRevision(object), writer }), signal);
}

/** A new object gets its revision when it is stored. */
function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubeObject['metadata'] }; // see above
}

function checkRevisionGiven({ kind, info }: KindRequest, object: KubeObject): void {
  if (kind.allowsUnconditionalUpdate || (object.metadata.resourceVersion ?? '') !== '') return;
  const problem = { type: 'Invalid', field: 'metadata.resourceVersion', badValue: 0, detail: 'must be specified for an update' } as const;
  throw invalid({ group: kind.group, kind: kind.plural }, info.name, [problem]); // the resource, where else the kind stands
}
