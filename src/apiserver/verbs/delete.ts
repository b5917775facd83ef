import { deleted } from '#api/status.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { deleteObject } from './delete-object.ts';
import { deleteOptionsOf } from './delete-options.ts';
import { answerEntry } from './get.ts';

export async function deleteOne(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const options = await deleteOptionsOf(request, signal);
  const writer = writerOf(request, options);
  const { object, isRemoved } = await deleteObject(context, { kind, namespace: info.namespace, name: info.name, options, writer }, signal);
  if (!isRemoved || kind.answersDeleteWithObject) return answerEntry(200, object, request, format, context, writer.warnings);
  return answerObject(200, deleted(kind, info.name, object.facts.uid), format, writer.warnings);
}
