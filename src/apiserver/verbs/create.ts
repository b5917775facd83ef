import { badRequest } from '#api/status.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { createObject } from './create-object.ts';
import { answerEntry } from './get.ts';
import { checkNamespace } from './place.ts';

export async function create(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  if (kind.scope === 'Namespaced' && info.namespace === '') throw badRequest('an empty namespace may not be set during creation');
  const options = writeOptionsOf(request.query, 'CreateOptions');
  const writer = writerOf(request, options);
  const object = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', kind, options, writer.warn);
  checkNamespace(kind, object, info.namespace, 'create');
  const entry = await createObject(context, { kind, namespace: info.namespace, object, writer }, signal);
  return answerEntry(201, entry, request, format, context, writer.warnings);
}
