import { goText } from '#api/go-text.ts';
import { apiVersionOf } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { applyJsonPatch } from '#api/patch/json-patch.ts';
import { applyMergePatch } from '#api/patch/merge-patch.ts';
import { PatchDoesNotApply, PatchIsContradictory } from '#api/patch/patch-does-not-apply.ts';
import { applyStrategicMergePatch } from '#api/patch/strategic-merge.ts';
import { quote } from '#api/quote.ts';
import { decodeJson } from '#api/schema/decode-json.ts';
import { badRequest, failure, invalid, requestTooLarge, type StatusError, unnamedError, unsupportedMediaType } from '#api/status.ts';
import { InvalidInput } from '#base/errors.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, type ParsedBody, parsePatch } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { type WriteOptions, writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { type RequestWriter, type Writer, writerOf } from '../request/writer.ts';
import { applyType, patchByApply } from './apply.ts';
import { answerEntry } from './get.ts';
import { checkName, checkNamespace, withoutSameRevision } from './place.ts';
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
  if (isApplication(request)) return patchByApply(context, request, format, signal);
  const { writer, patched } = await readPatch(request, kind, signal);
  const change = (current: KubeObject) => {
    const next = patched(current);
    checkNamespace(kind, next, info.namespace, 'update');
    checkName(next, info.name);
    return withoutSameRevision(next, current);
  };
  const { namespace, name, subresource } = info;
  const entry = await updateObject(context, { kind, namespace, name, subresource, writer, change }, signal);
  return answerEntry(200, entry, request, format, context, writer.warnings);
}

export interface Patch {
  readonly writer: RequestWriter;
  /** @throws a `StatusError` when it cannot be patched so */
  patched(current: KubeObject): KubeObject;
}

/**
 * The patch that a request has for an object of a kind, or for what a subresource shows of one.
 *
 * @throws a `StatusError`: 415 for an unknown type of patch, 400 for what cannot be read
 */
export async function readPatch(request: KindRequest, kind: BodyKind, signal: AbortSignal): Promise<Patch> {
  const type = patchTypes.get(mediaTypeOf(request));
  if (type === undefined) throw unsupportedMediaType([...patchTypes.keys(), applyType]);
  const options = writeOptionsOf(request.query, 'PatchOptions');
  const body = parsePatch(await request.body(signal), type);
  checkLength(type, body.value);
  const writer = writerOf(request, options);
  return { writer, patched: (current) => patchedObject(kind, type, current, body, options, writer) };
}

/** Whether what is sent is no change, but what its manager wants. */
export function isApplication(request: KindRequest): boolean {
  return mediaTypeOf(request) === applyType;
}

function mediaTypeOf({ headers }: KindRequest): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function checkLength(type: PatchType, patchValue: unknown): void {
  if (type !== 'json' || !Array.isArray(patchValue) || patchValue.length <= maxOperations) return;
  throw requestTooLarge(`Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patchValue.length}`);
}

function patchedObject(
  kind: BodyKind,
  type: PatchType,
  current: KubeObject,
  { value, problems }: ParsedBody,
  { fieldValidation }: WriteOptions,
  { warn }: Writer,
): KubeObject {
  const patched = applied(kind, type, current, value);
  const shown = () => (type === 'strategic' ? goText(value) : JSON.stringify(patched));
  try {
    const { object, unknownFields } = decodeJson(kind.schema, patched);
    const complaints = [...problems, ...unknownFields.map((field) => `unknown field ${quote(field)}`)];
    if (complaints.length > 0 && fieldValidation === 'Strict') throw badPatch(shown(), `strict decoding error: ${complaints.join(', ')}`);
    if (fieldValidation === 'Warn') complaints.forEach(warn);
    return toKind(kind, object, shown);
  } catch (error) {
    if (error instanceof InvalidInput) throw badPatch(shown(), error.message);
    throw error;
  }
}

function toKind(kind: BodyKind, object: Readonly<Record<string, unknown>>, shown: () => string): KubeObject {
  const apiVersion = apiVersionOf(kind);
  const given = { apiVersion: object['apiVersion'] ?? apiVersion, kind: object['kind'] ?? kind.kind };
  if (given.apiVersion !== apiVersion || given.kind !== kind.kind) {
    const detail = `no kind ${quote(String(given.kind))} is registered for version ${quote(String(given.apiVersion))} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
    throw badPatch(shown(), detail);
  }
  return { ...object, apiVersion, kind: kind.kind } as KubeObject; // the schema has seen to the types
}

/** What the patch makes of the object is none of its kind. */
function badPatch(badValue: string, detail: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [{ type: 'Invalid', field: 'patch', badValue, detail }]);
}

function applied(kind: BodyKind, type: PatchType, current: KubeObject, value: unknown): unknown {
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
    if (error instanceof PatchIsContradictory) throw unnamedError(error.message);
    if (error instanceof InvalidInput) throw badRequest(error.message);
    throw error;
  }
}
