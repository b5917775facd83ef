import { StatusError } from '#api/status.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { withWarnings } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { deleteObject } from './delete-object.ts';
import { deleteOptionsOf, warnOfDefault } from './delete-options.ts';
import { answerList, pageOf } from './list.ts';

/** Deletions that go on at once: their commits are grouped by the store. */
const parallel = 16;

/** Deletes what a list with the same query would show, and answers with it as it was. */
export async function deleteCollection(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind } = request;
  const format = negotiate(request.headers, request.query);
  const options = await deleteOptionsOf(request, signal);
  const writer = writerOf(request, options);
  warnOfDefault(kind, options, writer);
  const { page, meta } = await pageOf(context, request, signal);
  const rest = [...page];
  const worker = async () => {
    for (let entry = rest.shift(); entry !== undefined; entry = rest.shift()) {
      const { name, namespace = '' } = entry.object().metadata;
      try {
        await deleteObject(context, { kind, namespace, name, options, writer }, signal);
      } catch (error) {
        const isGone = error instanceof StatusError && error.status.code === 404;
        if (isGone) continue; // somebody else was faster
        rest.length = 0;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return withWarnings(answerList(context, request, format, page, meta), writer.warnings);
}
