import { StatusError } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import { requireAccess } from '../request/authorize.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { createObject, type NewObjectRequest } from './create-object.ts';
import { type UpdateRequest, updateObject } from './update-object.ts';

/**
 * Updates an object, or creates it when it is not there and the client may create too.
 *
 * @param fresh what is created
 * @throws a `StatusError`
 */
export async function updateOrCreate(
  context: ServerContext,
  request: KindRequest,
  change: UpdateRequest,
  fresh: () => NewObjectRequest,
  signal: AbortSignal,
): Promise<{ readonly entry: IndexedObject; readonly isNew: boolean }> {
  for (;;) {
    try {
      return { entry: await updateObject(context, change, signal), isNew: false };
    } catch (error) {
      if (!isAnswer(error, 'NotFound', change) || change.subresource !== '') throw error;
    }
    requireAccess(context.authorizer, request.user, { ...request.info, verb: 'create' });
    try {
      return { entry: await createObject(context, fresh(), signal), isNew: true };
    } catch (error) {
      // Somebody else was faster: then it is there to be updated.
      if (!isAnswer(error, 'AlreadyExists', change) || signal.aborted) throw error;
    }
  }
}

function isAnswer(error: unknown, reason: string, { kind, name }: UpdateRequest): boolean {
  if (!(error instanceof StatusError) || error.status.reason !== reason) return false;
  return error.status.details?.kind === kind.plural && error.status.details.name === name;
}
