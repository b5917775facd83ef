import { apiVersionOf, type Kind } from '#api/kind.ts';
import { type ApplyResult, apply } from '#api/managed-fields/apply.ts';
import { checkApplied } from '#api/managed-fields/check-applied.ts';
import { applyConflict } from '#api/managed-fields/conflict-status.ts';
import { type Entry, storedEntries } from '#api/managed-fields/entries.ts';
import { isJsonObject, type JsonObject } from '#api/managed-fields/field-type.ts';
import { typeOfMessage } from '#api/managed-fields/message-type.ts';
import type { KubeObject } from '#api/object.ts';
import { decodeJson } from '#api/schema/decode-json.ts';
import { parseJsonText } from '#api/schema/json-text.ts';
import { parseYamlText } from '#api/schema/yaml-text.ts';
import { badRequest, conflict, type StatusError, unnamedError } from '#api/status.ts';
import { InvalidInput } from '#base/errors.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import type { BodyKind } from '../request/decode.ts';
import type { OutputFormat } from '../request/negotiate.ts';
import { applyOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { type RequestWriter, type Writer, writerOf } from '../request/writer.ts';
import { answerEntry } from './get.ts';
import { fieldWriter, withOwners } from './owners.ts';
import { checkName, checkNamespace, withoutSameRevision } from './place.ts';
import { updateOrCreate } from './update-or-create.ts';

export const applyType = 'application/apply-patch+yaml';

/** PATCH that applies: the body says all that its manager wants of the object, which is created when it is not there. */
export async function patchByApply(context: ServerContext, request: KindRequest, format: OutputFormat, signal: AbortSignal): Promise<ApiResponse> {
  const application = await readApplication(request, signal);
  const { entry, isNew } = await applyObject(context, request, application, signal);
  return answerEntry(isNew ? 201 : 200, entry, request, format, context, application.writer.warnings);
}

/** What a request applies. @throws a `StatusError`: 400 for what cannot be read */
export async function readApplication(request: KindRequest, signal: AbortSignal): Promise<Application & { readonly writer: RequestWriter }> {
  const options = applyOptionsOf(request.query);
  const writer = writerOf(request, options);
  const { value, problems } = parseApplied(Buffer.from(await request.body(signal)).toString());
  const check = () => {
    if (problems === '') return;
    if (options.fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${problems}`);
    if (options.fieldValidation === 'Warn') writer.warn(problems);
  };
  return { applied: value, writer, isForced: options.isForced, check };
}

export interface Application {
  /** All that the manager wants of the object of the request's kind. */
  readonly applied: JsonObject;
  readonly writer: Writer;
  /** Takes the fields of others. */
  readonly isForced: boolean;
  /** Called when it could be applied. @throws a `StatusError` to refuse it all the same */
  check?(): void;
}

/**
 * Applies to the object that the request names, of its kind and through its subresource: for `scale` the scaled object, of which the
 * application names what a scale may change.
 *
 * @throws a `StatusError`: 400 and 500 for what cannot be applied, 409 for what others own
 */
export async function applyObject(
  context: ServerContext,
  request: KindRequest,
  application: Application,
  signal: AbortSignal,
): Promise<{ readonly entry: IndexedObject; readonly isNew: boolean }> {
  const { kind, info } = request;
  const { namespace, name, subresource } = info;
  const { writer } = application;
  const change = (current: KubeObject) => appliedObject(context, request, application, current);
  const fresh = () => {
    const { object, owners } = newObject(context, request, application);
    return { kind, namespace, object, owners, writer };
  };
  return updateOrCreate(context, request, { kind, namespace, name, subresource, writer, owners: 'given', change }, fresh, signal);
}

function appliedObject(context: ServerContext, { kind, info }: KindRequest, application: Application, current: KubeObject): KubeObject {
  const { object, entries } = applyTo(context, kind, info.subresource, { ...current }, storedEntries(current.metadata.managedFields), application);
  const next = toKind(kind, object);
  checkPlace(kind, next, info);
  return withOwners(withoutSameRevision(next, current), entries);
}

function newObject(context: ServerContext, { kind, info }: KindRequest, application: Application) {
  const { object, entries } = applyTo(context, kind, info.subresource, {}, [], application);
  const fresh = toKind(kind, object);
  const { uid = '', resourceVersion: _, ...metadata } = fresh.metadata;
  if (uid !== '') {
    const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(kind, info.name, detail);
  }
  checkPlace(kind, fresh, info);
  return { object: { ...fresh, metadata: metadata as KubeObject['metadata'] }, owners: entries }; // it gets both when it is stored
}

function checkPlace(kind: Kind, object: KubeObject, { namespace, name }: KindRequest['info']): void {
  checkName(object, name);
  checkNamespace(kind, object, namespace, 'update');
}

function applyTo(
  context: ServerContext,
  kind: Kind,
  subresource: string,
  live: JsonObject,
  entries: readonly Entry[],
  { applied, writer, isForced, check }: Application,
): ApplyResult & { readonly kind: 'applied' } {
  checkApplicable(kind, applied);
  const result = apply(live, entries, withoutNullOwners(applied), fieldWriter(context, kind, subresource, writer), isForced);
  if (result.kind === 'conflict') throw applyConflict(result.conflicts);
  check?.();
  return result;
}

/** Whether it is all of the kind. @throws a `StatusError` */
export function checkApplicable(kind: BodyKind, applied: JsonObject): void {
  const expected = apiVersionOf(kind);
  const version = typeof applied['apiVersion'] === 'string' ? applied['apiVersion'] : '';
  if (version !== expected) {
    throw badRequest(`Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${expected}`);
  }
  if ((metadataOf(applied)['managedFields'] ?? null) !== null) throw badRequest('metadata.managedFields must be nil');
  const isOther = applied['kind'] !== kind.kind;
  const problem = isOther ? `no corresponding type for ${shownType(applied)}` : checkApplied(typeOfMessage(kind.schema), applied);
  if (problem !== '') throw unnamedError(`failed to create typed patch object (${shownObject(applied)}): ${problem}`);
}

function toKind(kind: Kind, merged: JsonObject): KubeObject {
  try {
    const { object } = decodeJson(kind.schema, merged);
    return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind } as KubeObject; // the schema has seen to the types
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw unnamedError(`failed to convert new object (${shownObject(merged)}) to proper version: ${error.message}`);
  }
}

interface ParsedApplication {
  readonly value: JsonObject;
  /** Readable, but not as it should be: keys that stand there twice. */
  readonly problems: string;
}

/** JSON is YAML too, but read much faster. */
function parseApplied(text: string): ParsedApplication {
  const fromJson = text.trimStart().startsWith('{') ? readJson(text) : undefined;
  if (fromJson !== undefined) return { value: asObject(fromJson.value), problems: '' };
  try {
    const { value, duplicates } = parseYamlText(text);
    const lines = duplicates.map((line) => `  ${line}`);
    const problems = lines.length === 0 ? '' : ['error converting YAML to JSON: yaml: unmarshal errors:', ...lines].join('\n');
    return { value: asObject(value), problems };
  } catch (error) {
    if (error instanceof InvalidInput) throw undecodable(`error converting YAML to JSON: ${error.message}`);
    throw error;
  }
}

/** Undefined for what is no JSON, or has a key twice: the reader of YAML tells where. */
function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    const { value, fields } = parseJsonText(text);
    return fields.length === 0 ? { value } : undefined;
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}

function asObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  if (value === null || value === undefined) return {};
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const detail = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  throw undecodable(`error unmarshaling JSON: while decoding JSON: ${detail}`);
}

function undecodable(detail: string): StatusError {
  return badRequest(`error decoding YAML: ${detail}`);
}

/** `managedFields: null` says nothing. */
function withoutNullOwners(applied: JsonObject): JsonObject {
  const { managedFields, ...metadata } = metadataOf(applied);
  return managedFields === undefined ? applied : { ...applied, metadata };
}

/** `default/a; apps/v1, Kind=Deployment` */
function shownObject(applied: JsonObject): string {
  const { namespace = '', name = '' } = metadataOf(applied);
  return `${String(namespace)}/${String(name)}; ${shownType(applied)}`;
}

function shownType({ apiVersion = '', kind = '' }: JsonObject): string {
  const version = String(apiVersion);
  return `${version.includes('/') ? '' : '/'}${version}, Kind=${String(kind)}`;
}

function metadataOf(object: JsonObject): JsonObject {
  return isJsonObject(object['metadata']) ? object['metadata'] : {};
}
