import { apiVersionOf, type Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import { decodeJson, type JsonObject } from '#api/schema/decode-json.ts';
import { jsonTypeOf } from '#api/schema/decode-value.ts';
import { countKeys, parseJsonText, type WrittenField } from '#api/schema/json-text.ts';
import type { MessageSchema } from '#api/schema/message-schema.ts';
import { decodeProtobuf } from '#api/schema/protobuf/decode.ts';
import { decodeEnvelope } from '#api/schema/protobuf/envelope.ts';
import { parseYamlText } from '#api/schema/yaml-text.ts';
import { badRequest, type StatusError, unsupportedMediaType } from '#api/status.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { WriteOptions } from './query-options.ts';

/** What a body is read as: a kind, or a message that is only ever sent, such as a Binding. */
export type BodyKind = Pick<Kind, 'group' | 'version' | 'kind'> & { readonly schema: MessageSchema };

/** Collects what the client is told beside the answer. */
export type Warn = (text: string) => void;

/**
 * Reads a body as an object of a kind.
 *
 * @throws a `StatusError`: 415 for an unknown format, 400 for what cannot be read or, under `Strict`, has unknown fields
 */
export function decodeBody(body: Uint8Array, contentType: string, kind: BodyKind, options: WriteOptions, warn: Warn): KubeObject {
  const parsed = parseBody(body, contentType, kind);
  checkType(parsed.value, body, kind.kind);
  return decodeParsed(parsed, kind, options, warn);
}

export function decodeParsed(parsed: ParsedBody, kind: BodyKind, { fieldValidation }: Pick<WriteOptions, 'fieldValidation'>, warn: Warn): KubeObject {
  const { value } = parsed;
  const apiVersion = apiVersionOf(kind);
  const given = isObject(value) ? value : {};
  const shownKind = textOr(given['kind'], kind.kind);
  const shownVersion = textOr(given['apiVersion'], apiVersion);
  const handled = `${shownKind} in version ${quote(shownVersion.split('/').at(-1) ?? '')} cannot be handled as a ${kind.kind}`;
  if (shownKind !== kind.kind) {
    const detail = `no kind ${quote(shownKind)} is registered for version ${quote(shownVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
    throw badRequest(`${handled}: ${detail}`);
  }
  if (shownVersion !== apiVersion)
    throw badRequest(`the API version in the data (${shownVersion}) does not match the expected API version (${apiVersion})`);
  try {
    const { object, unknownFields } = decodeJson(kind.schema, value ?? {});
    if (fieldValidation !== 'Ignore') complain(complaintsOf(parsed, unknownFields), fieldValidation, handled, warn);
    return toObject(object, apiVersion, kind.kind);
  } catch (error) {
    if (error instanceof InvalidInput) throw badRequest(`${handled}: ${error.message}`);
    throw error;
  }
}

/** As many as upstream collects. */
const maxComplaints = 100;
const yamlComplaint = 'yaml: unmarshal errors:\n';

/** What is readable and still not as it should be, in the order of the body. */
function complaintsOf({ problems, fields }: ParsedBody, unknownFields: readonly string[]): readonly string[] {
  if (unknownFields.length === 0) return problems;
  const unknown = (field: string) => `unknown field ${quote(field)}`;
  if (fields.length === 0) return [...problems, ...unknownFields.map(unknown)].slice(0, maxComplaints);
  const isUnknown = new Set(unknownFields);
  const all = fields.flatMap(({ path, isDuplicate }) => {
    if (isUnknown.has(path)) return [unknown(path)];
    const isRead = !unknownFields.some((field) => path.startsWith(`${field}.`) || path.startsWith(`${field}[`));
    return isDuplicate && isRead ? [duplicate(path)] : [];
  });
  return [...new Set(all)].slice(0, maxComplaints);
}

function complain(complaints: readonly string[], mode: 'Warn' | 'Strict', handled: string, warn: Warn): void {
  if (complaints.length === 0) return;
  if (mode === 'Strict') throw badRequest(`${handled}: strict decoding error: ${complaints.join(', ')}`);
  // What is one error of a YAML body is a warning a line.
  const lines = complaints.flatMap((text) => (text.startsWith(yamlComplaint) ? text.split('\n').slice(1) : [text]));
  for (const line of lines) warn(line.trim());
}

function duplicate(path: string): string {
  return `duplicate field ${quote(path)}`;
}

export interface ParsedBody {
  readonly value: unknown;
  /** Readable, but not as it should be: keys that stand there twice. */
  readonly problems: readonly string[];
  /** The keys as they are written, when there are problems of JSON. */
  readonly fields: readonly WrittenField[];
}

/** The formats that a body may have. */
export const bodyMediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const;

/** @param expected names the kind in error messages, and says how its protobuf form is read */
export function parseBody(body: Uint8Array, contentType: string, expected: Pick<BodyKind, 'kind' | 'schema'>): ParsedBody {
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  try {
    switch (mediaType) {
      case '':
      case '*/*':
      case 'application/json':
        return parseJson(textOf(body));
      case 'application/yaml':
      case 'application/x-yaml':
      case 'text/yaml':
        return parseYaml(textOf(body));
      case 'application/vnd.kubernetes.protobuf':
        return { value: parseProtobuf(body, expected.schema), problems: [], fields: [] };
    }
  } catch (error) {
    if (error instanceof InvalidInput) throw unrecognized(expected.kind, error.message, body);
    throw error;
  }
  throw unsupportedMediaType(bodyMediaTypes);
}

/** @throws a 400 `StatusError` for what is no patch of the type */
export function parsePatch(body: Uint8Array, type: 'json' | 'merge' | 'strategic'): ParsedBody {
  const begin = type === 'strategic' ? '' : 'error decoding patch: ';
  try {
    const parsed = readJson(textOf(body));
    const { value } = parsed;
    const isFitting = type === 'json' ? Array.isArray(value) : isObject(value);
    const goType = type === 'json' ? '[]interface {}' : 'map[string]interface {}';
    if (!isFitting && value !== null)
      throw new InvalidInput({ message: `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goType}` });
    return value === null ? { ...parsed, value: type === 'json' ? [] : {} } : parsed;
  } catch (error) {
    if (error instanceof InvalidInput) throw badRequest(`${begin}${error.message}`);
    throw error;
  }
}

function readJson(text: string): ParsedBody {
  const { value, fields } = parseJsonText(text);
  return { value, problems: fields.filter(({ isDuplicate }) => isDuplicate).map(({ path }) => duplicate(path)), fields };
}

function parseJson(text: string): ParsedBody {
  try {
    return readJson(text);
  } catch (cause) {
    throw new InvalidInput({ message: `couldn't get version/kind; json parse error: ${messageOf(cause)}`, cause });
  }
}

function parseYaml(text: string): ParsedBody {
  try {
    const { value, duplicates } = parseYamlText(text);
    countKeys(value, 0); // it may be nested too deep
    // Upstream turns it into JSON first, whose keys are sorted: so are its complaints.
    const problems = duplicates.length === 0 ? [] : [yamlComplaint + duplicates.map((line) => `  ${line}`).join('\n')];
    return { value: sorted(value), problems, fields: [] };
  } catch (cause) {
    throw new InvalidInput({ message: `error converting YAML to JSON: ${messageOf(cause)}`, cause });
  }
}

function parseProtobuf(body: Uint8Array, schema: MessageSchema): unknown {
  const { apiVersion, kind, raw } = decodeEnvelope(body);
  return { ...decodeProtobuf(schema, raw), apiVersion, kind };
}

/** Upstream reads the type first, of whatever the value is: a `null` is as good as an object, a list is not. */
function checkType(value: unknown, body: Uint8Array, kind: string): void {
  if (value === null) return;
  const goType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const detail = isObject(value)
    ? ['apiVersion', 'kind']
        .filter((field) => value[field] !== undefined && value[field] !== null && typeof value[field] !== 'string')
        .map((field) => `cannot unmarshal ${jsonTypeOf(value[field])} into Go struct field .${field} of type string`)[0]
    : `cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goType}`;
  if (detail !== undefined) throw unrecognized(kind, `couldn't get version/kind; json parse error: json: ${detail}`, body);
}

function unrecognized(kind: string, detail: string, body: Uint8Array): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${detail} (${summaryOf(body)})`);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

const summaryBytes = 30;

/** Enough of the body to recognize it. */
function summaryOf(body: Uint8Array): string {
  if (body.byteLength === 0) return '<empty>';
  const begin = Buffer.from(body.subarray(0, summaryBytes));
  const shown = begin[0] === 0x7b ? begin.toString() : begin.toString('hex');
  return body.byteLength > summaryBytes ? `${shown} ...` : shown;
}

/** The schema has seen to the types; what a client need not send is filled in before anything is stored. */
function toObject(object: JsonObject, apiVersion: string, kind: string): KubeObject {
  return { ...object, apiVersion, kind } as KubeObject;
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
