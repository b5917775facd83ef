import { deleted } from '#api/status.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { deleteObject } from './delete-object.ts';
import { deleteOptionsOf, warnOfDefault } from './delete-options.ts';
import { answerEntry } from './get.ts';

export async function deleteOne(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const options = await deleteOptionsOf(request, signal);
  const writer = writerOf(request, options);
  warnOfDefault(kind, options, writer);
  const { object, isRemoved } = await deleteObject(context, { kind, namespace: info.namespace, name: info.name, options, writer }, signal);
  // Upstream says 202 to those alone who said in the old way that dependents go too.
  const status = !isRemoved && options.orphanDependents === false ? 202 : 200;
  if (!isRemoved || kind.answersDeleteWithObject) return answerEntry(status, object, request, format, context, writer.warnings);
  return answerObject(200, deleted(kind, info.name, object.facts.uid), format, writer.warnings);
}
