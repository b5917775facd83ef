import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { applyJsonPatch } from '#api/patch/json-patch.ts';
import { applyMergePatch } from '#api/patch/merge-patch.ts';
import { PatchDoesNotApply } from '#api/patch/patch-does-not-apply.ts';
import { applyStrategicMergePatch } from '#api/patch/strategic-merge.ts';
import { badRequest, failure, invalid, requestTooLarge, StatusError, unsupportedMediaType } from '#api/status.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeObject, parseBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { type WriteOptions, writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { answerEntry } from './get.ts';
import { checkName, checkNamespace } from './place.ts';
import { updateObject } from './update-object.ts';

type PatchType = 'json' | 'merge' | 'strategic';

const patchTypes: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
]);
const maxOperations = 10_000;

/** PATCH of an object or of its status. Without a resourceVersion in the patch it is applied again when others write in between. */
export async function patch(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const type = patchTypes.get((request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '');
  if (type === undefined) throw unsupportedMediaType([...patchTypes.keys()]);
  const options = writeOptionsOf(request.query, 'PatchOptions');
  const { value } = parseBody(await request.body(signal), 'application/json', { ...kind, kind: 'patch' });
  if (type === 'json' && Array.isArray(value) && value.length > maxOperations) {
    throw requestTooLarge(`Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${value.length}`);
  }
  const writer = writerOf(request, options);
  const change = (current: KubeObject) => {
    const patched = patchedObject(kind, type, current, value, options, writer.warn);
    checkNamespace(kind, patched, info.namespace, 'update');
    checkName(patched, info.name);
    return withoutSameRevision(patched, current);
  };
  const { namespace, name, subresource } = info;
  const entry = await updateObject(context, { kind, namespace, name, subresource, writer, change }, signal);
  return answerEntry(200, entry, request, format, context, writer.warnings);
}

/** A patch that leaves the revision alone does not name a state: then a write in between is no conflict. */
function withoutSameRevision(patched: KubeObject, current: KubeObject): KubeObject {
  if (patched.metadata.resourceVersion !== current.metadata.resourceVersion) return patched;
  return { ...patched, metadata: { ...patched.metadata, resourceVersion: '' } };
}

function patchedObject(
  kind: Kind,
  type: PatchType,
  current: KubeObject,
  value: unknown,
  options: WriteOptions,
  warn: (text: string) => void,
): KubeObject {
  const patched = applied(kind, type, current, value);
  try {
    return decodeObject(patched, kind, options, warn);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    const shown = JSON.stringify(type === 'strategic' ? value : patched);
    const detail = messageOf(error).replace(/^.* cannot be handled as a \w+: /, '');
    throw invalid({ group: '', kind: '' }, '', [{ type: 'Invalid', field: 'patch', badValue: shown, detail }]);
  }
}

function applied(kind: Kind, type: PatchType, current: KubeObject, value: unknown): unknown {
  try {
    switch (type) {
      case 'json':
        return applyJsonPatch(current, value);
      case 'merge':
        return applyMergePatch(current, value);
      case 'strategic':
        return applyStrategicMergePatch(kind.schema, { ...current }, value);
    }
  } catch (error) {
    if (error instanceof PatchDoesNotApply) {
      throw failure(422, 'Invalid', 'the server rejected our request due to an error in our request');
    }
    if (error instanceof InvalidInput) throw badRequest(error.message);
    throw error;
  }
}
