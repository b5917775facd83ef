import { groupResourceOf } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { invalid, StatusError } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import { requireAccess } from '../request/authorize.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { type Writer, writerOf } from '../request/writer.ts';
import { createObject } from './create-object.ts';
import { answerEntry } from './get.ts';
import { checkName, checkNamespace, placed } from './place.ts';
import { updateObject } from './update-object.ts';

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
  checkRevisionGiven(request, object);
  try {
    const { namespace, name, subresource } = info;
    const entry = await updateObject(context, { kind, namespace, name, subresource, writer, change: () => object }, signal);
    return { entry, isNew: false };
  } catch (error) {
    const isMissing = error instanceof StatusError && error.status.code === 404 && error.status.details?.kind === kind.plural;
    if (!isMissing || !kind.createsOnUpdate || info.subresource !== '') throw error;
    requireAccess(context.authorizer, request.user, { ...info, verb: 'create' });
    const { resourceVersion: _, ...metadata } = object.metadata;
    const fresh = { ...object, metadata: metadata as KubeObject['metadata'] }; // it gets its revision when it is stored
    return { entry: await createObject(context, { kind, namespace: info.namespace, object: fresh, writer }, signal), isNew: true };
  }
}

function checkRevisionGiven({ kind, info }: KindRequest, object: KubeObject): void {
  if (kind.allowsUnconditionalUpdate || (object.metadata.resourceVersion ?? '') !== '') return;
  const problem = { type: 'Invalid', field: 'metadata.resourceVersion', badValue: 0, detail: 'must be specified for an update' } as const;
  throw invalid({ group: '', kind: groupResourceOf(kind) }, info.name, [problem]);
}
