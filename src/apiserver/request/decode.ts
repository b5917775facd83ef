import { parseDocument } from 'yaml';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import { decodeJson, type JsonObject } from '#api/schema/decode-json.ts';
import type { MessageSchema } from '#api/schema/message-schema.ts';
import { decodeProtobuf } from '#api/schema/protobuf/decode.ts';
import { decodeEnvelope } from '#api/schema/protobuf/envelope.ts';
import { badRequest, unsupportedMediaType } from '#api/status.ts';
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
  const { value, problems } = parseBody(body, contentType, kind);
  return decodeObject(value, kind, options, warn, problems);
}

/** @param problems what parsing found to be wrong but readable */
export function decodeObject(value: unknown, kind: BodyKind, options: WriteOptions, warn: Warn, problems: readonly string[] = []): KubeObject {
  const apiVersion = apiVersionOf(kind);
  const given = isObject(value) ? value : {};
  const shownKind = textOr(given['kind'], kind.kind);
  const shownVersion = textOr(given['apiVersion'], apiVersion);
  const handled = `${shownKind} in version ${quote(kind.version)} cannot be handled as a ${kind.kind}`;
  if (shownVersion !== apiVersion)
    throw badRequest(`the API version in the data (${shownVersion}) does not match the expected API version (${apiVersion})`);
  if (shownKind !== kind.kind) {
    const detail = `no kind ${quote(shownKind)} is registered for version ${quote(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
    throw badRequest(`${handled}: ${detail}`);
  }
  try {
    const { object, unknownFields } = decodeJson(kind.schema, value);
    const complaints = [...problems, ...unknownFields.map((field) => `unknown field ${quote(field)}`)];
    if (complaints.length > 0 && options.fieldValidation === 'Strict') {
      throw badRequest(`${handled}: strict decoding error: ${complaints.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') complaints.forEach(warn);
    return toObject(object, apiVersion, kind.kind);
  } catch (error) {
    if (error instanceof InvalidInput) throw badRequest(`${handled}: ${error.message}`);
    throw error;
  }
}

export interface ParsedBody {
  readonly value: unknown;
  /** Readable, but not as it should be: keys that stand there twice. */
  readonly problems: readonly string[];
}

/** The formats that a body may have. */
export const bodyMediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const;

/** @param expected names the kind in error messages, and says how its protobuf form is read */
export function parseBody(body: Uint8Array, contentType: string, expected: Pick<BodyKind, 'kind' | 'schema'>): ParsedBody {
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (mediaType === 'application/vnd.kubernetes.protobuf') return { value: parseProtobuf(body, expected), problems: [] };
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  switch (mediaType) {
    case '':
    case '*/*':
    case 'application/json':
      return { value: parseJson(text, expected.kind), problems: [] };
    case 'application/yaml':
    case 'application/x-yaml':
    case 'text/yaml':
      return parseYaml(text, expected.kind);
    default:
      throw unsupportedMediaType(bodyMediaTypes);
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unrecognized(what, `json parse error: ${messageOf(error)} (${beginOf(text)})`);
  }
}

function parseProtobuf(body: Uint8Array, expected: Pick<BodyKind, 'kind' | 'schema'>): unknown {
  try {
    const { apiVersion, kind, raw } = decodeEnvelope(body);
    return { ...decodeProtobuf(expected.schema, raw), apiVersion, kind };
  } catch (error) {
    if (error instanceof InvalidInput) throw unrecognized(expected.kind, error.message);
    throw error;
  }
}

function parseYaml(text: string, what: string): ParsedBody {
  const document = parseDocument(text, { uniqueKeys: true });
  const problems = document.errors
    .filter((error) => error.code === 'DUPLICATE_KEY')
    .map((error) => `line ${error.linePos?.[0].line ?? 0}: key already set in map`);
  const fatal = document.errors.find((error) => error.code !== 'DUPLICATE_KEY');
  if (fatal !== undefined) throw unrecognized(what, `yaml: ${fatal.message}`);
  return { value: document.toJS({ maxAliasCount: 100 }), problems };
}

function unrecognized(what: string, detail: string) {
  return badRequest(`the object provided is unrecognized (must be of type ${what}): couldn't get version/kind; ${detail}`);
}

/** Enough of the body to recognize it. */
function beginOf(text: string): string {
  if (text.length === 0) return '';
  return text.startsWith('{') ? `${text.slice(0, 30)} ...` : `${Buffer.from(text).subarray(0, 30).toString('hex')} ...`;
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
