import { InvalidInput } from '#base/errors.ts';
import { decodeScalar, decodeSpecial, jsonTypeOf } from './decode-value.ts';
import { type FieldSchema, type MessageSchema, schemaOf } from './message-schema.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Decoded {
  /** A new object with known fields only, in canonical form: quantities, times. Fields that were `null`, and empty lists and maps, are gone. */
  readonly object: JsonObject;
  /** Paths of what was dropped: `spec.containers[0].foo`. */
  readonly unknownFields: readonly string[];
}

/**
 * Reads a parsed JSON value as an object of a message.
 *
 * @throws {InvalidInput} in upstream's words when a value has the wrong type; the caller puts `Pod in version "v1" cannot be handled as a Pod: `
 * in front
 */
export function decodeJson(schema: MessageSchema, value: unknown): Decoded {
  if (!isObject(value)) {
    throw new InvalidInput({ message: `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goTypeOf(schema)}` });
  }
  const unknownFields: string[] = [];
  const object = decodeMessage(schema, value, { names: '', path: '', depth: 0, struct: '', isRoot: true }, unknownFields);
  const isKind = schema.jsonFields.get('metadata')?.message?.name === 'meta.v1.ObjectMeta';
  return { object: isKind && object['metadata'] === undefined ? { ...object, metadata: {} } : object, unknownFields };
}

/** Where a value stands. */
export interface Place {
  /** Names of fields only, as Go's decoder prints them. */
  readonly names: string;
  /** With indexes and keys. */
  readonly path: string;
  readonly depth: number;
  /** The message that has the field. */
  readonly struct: string;
  readonly isRoot: boolean;
}

/** Deeper than any real object; keeps a hostile body from exhausting the stack. */
const depthMax = 500;

function decodeMessage(schema: MessageSchema, value: JsonObject, place: Place, unknownFields: string[]): JsonObject {
  if (place.depth > depthMax) throw new InvalidInput({ message: 'json: exceeded max depth' });
  const entries: (readonly [string, unknown])[] = [];
  for (const [name, item] of Object.entries(value)) {
    const field = schema.jsonFields.get(name);
    if (field === undefined) {
      const isTypeMeta = (name === 'apiVersion' || name === 'kind') && (place.isRoot || schema.scope !== undefined);
      if (!isTypeMeta) unknownFields.push(join(place.path, name));
      else if (typeof item === 'string') entries.push([name, item]);
      else if (item !== null) throw wrongType(item, join(place.names, name), shortName(schema.name), 'string');
      continue;
    }
    if (item === null) continue;
    const at: Place = {
      names: join(place.names, name),
      path: join(place.path, name),
      depth: place.depth + 1,
      struct: shortName(schema.name),
      isRoot: false,
    };
    const decoded = decodeField(field, item, at, unknownFields);
    if (!isLeftOut(field, decoded)) entries.push([name, decoded]);
  }
  return Object.fromEntries(entries); // not by assignment: a key may be `__proto__`
}

/** An empty list or map says no more than none, and Go writes neither; only an empty `managedFields` is a wish of its own. */
function isLeftOut(field: FieldSchema, value: unknown): boolean {
  if (field.shape === 'single' || field.required || field.name === 'managedFields') return false;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function decodeField(field: FieldSchema, value: unknown, place: Place, unknownFields: string[]): unknown {
  switch (field.shape) {
    case 'single':
      return decodeOne(field, value, place, unknownFields);
    case 'list':
      if (!Array.isArray(value)) throw wrongType(value, place.names, place.struct, `[]${goItemType(field)}`);
      return value.map((item: unknown, index) =>
        decodeOne(field, item ?? zeroOf(field), { ...place, path: `${place.path}[${index}]` }, unknownFields),
      );
    case 'map':
      if (!isObject(value)) throw wrongType(value, place.names, place.struct, `map[string]${goItemType(field)}`);
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          decodeOne(field, item ?? zeroOf(field), { ...place, path: join(place.path, key) }, unknownFields),
        ]),
      );
  }
}

function decodeOne(field: FieldSchema, value: unknown, place: Place, unknownFields: string[]): unknown {
  const { message } = field;
  if (message === undefined) {
    if (field.type === 'message') throw new Error(`${field.name} has no message`);
    return decodeScalar(field.type, value, (goType) => wrongType(value, place.names, place.struct, goType));
  }
  switch (message.form) {
    case 'object':
      if (!isObject(value)) throw wrongType(value, place.names, place.struct, goTypeOf(message));
      return decodeMessage(message, value, place, unknownFields);
    case 'schema-or-array':
    case 'schema-or-bool':
    case 'schema-or-strings':
      return decodeSchemaOr(message.form, value, place, unknownFields);
    default:
      return decodeSpecial(message.form, value, (goType) => wrongType(value, place.names, place.struct, goType));
  }
}

function decodeSchemaOr(form: string, value: unknown, place: Place, unknownFields: string[]): unknown {
  const schema = schemaOf('apiextensions.v1.JSONSchemaProps');
  if (isObject(value)) return decodeMessage(schema, value, { ...place, depth: place.depth + 1 }, unknownFields);
  if (form === 'schema-or-bool' && typeof value === 'boolean') return value;
  if (form === 'schema-or-strings' && Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  if (form === 'schema-or-array' && Array.isArray(value) && value.every(isObject)) {
    return value.map((item, index) =>
      decodeMessage(schema, item, { ...place, path: `${place.path}[${index}]`, depth: place.depth + 1 }, unknownFields),
    );
  }
  throw wrongType(value, place.names, place.struct, 'v1.JSONSchemaProps');
}

/** What Go has for a `null` inside a list or a map. */
function zeroOf(field: FieldSchema): unknown {
  if (field.type === 'bool') return false;
  if (field.type === 'string' || field.type === 'bytes') return '';
  if (field.type !== 'message') return 0;
  return field.message?.form === 'quantity' ? '0' : {};
}

function wrongType(value: unknown, names: string, struct: string, goType: string): InvalidInput {
  return new InvalidInput({ message: `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${struct}.${names} of type ${goType}` });
}

function goItemType(field: FieldSchema): string {
  if (field.message !== undefined) return goTypeOf(field.message);
  if (field.type === 'bytes') return '[]uint8';
  return field.type === 'double' ? 'float64' : field.type;
}

/** `core.v1.PodSpec` is `v1.PodSpec` in Go. */
function goTypeOf(schema: MessageSchema): string {
  return schema.name.split('.').slice(-2).join('.');
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
