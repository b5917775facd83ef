import { BinaryReader, base64Encode, WireType } from '@bufbuild/protobuf/wire';
import { InvalidInput } from '#base/errors.ts';
import { meaningfulZeros } from '../../meaningful-zeros.ts';
import type { FieldSchema, MessageSchema, ScalarType } from '../message-schema.ts';
import { formatGoDuration } from './go-duration.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the protobuf form of a message as the object that JSON has: what Go writes only because it has no way to leave it out is gone.
 * Give the result to `decodeJson`, which checks it and makes it canonical.
 *
 * @throws {InvalidInput} when the bytes are no such message
 */
export function decodeProtobuf(schema: MessageSchema, bytes: Uint8Array): JsonObject {
  try {
    const value = decodeMessage(schema, bytes, 0);
    if (isObject(value)) return value;
  } catch (cause) {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput({ message: `the body is no protobuf message ${schema.name}`, cause });
  }
  throw new InvalidInput({ message: `the message ${schema.name} is no object` });
}

/** Deeper than any real object; keeps a hostile body from exhausting the stack. */
const depthMax = 500;
const numbered = new WeakMap<MessageSchema, ReadonlyMap<number, FieldSchema>>();

function decodeMessage(schema: MessageSchema, bytes: Uint8Array, depth: number): unknown {
  if (depth > depthMax) throw new InvalidInput({ message: 'protobuf: exceeded max depth' });
  switch (schema.form) {
    case 'object':
      return decodeFields(schema, bytes, depth);
    case 'time':
    case 'micro-time':
      return decodeTime(decodeParts(schema, bytes, depth), schema.form);
    case 'duration':
      return formatGoDuration(BigInt(Number(decodeParts(schema, bytes, depth)['duration'] ?? 0)));
    case 'quantity':
      return decodeParts(schema, bytes, depth)['string'] || '0';
    case 'int-or-string': {
      const { type, intVal, strVal } = decodeParts(schema, bytes, depth);
      return type === 1 ? (strVal ?? '') : (intVal ?? 0);
    }
    case 'raw-object':
    case 'any':
      return decodeRaw(schema, bytes);
    case 'string-list':
      return decodeParts(schema, bytes, depth)['items'] ?? [];
    case 'schema-or-array':
    case 'schema-or-bool':
    case 'schema-or-strings': {
      const parts = decodeParts(schema, bytes, depth);
      return parts['schema'] ?? parts['jSONSchemas'] ?? parts['property'] ?? parts['allows'] ?? false;
    }
  }
}

/** The fields of a message as JSON has them: inlined ones merged, meaningless zeros left out. */
function decodeFields(schema: MessageSchema, bytes: Uint8Array, depth: number): JsonObject {
  const entries = [...readFields(schema, bytes, depth)].flatMap(([field, value]): (readonly [string, unknown])[] => {
    if (value === undefined) return [];
    if (field.inline && isObject(value)) return Object.entries(value);
    const isZero = value === '' || value === 0 || value === false;
    return isZero && field.shape === 'single' && !field.required && !meaningfulZeros.has(field.name) ? [] : [[field.name, value]];
  });
  return Object.fromEntries(entries);
}

/** Every field as it was sent. */
function decodeParts(schema: MessageSchema, bytes: Uint8Array, depth: number): JsonObject {
  return Object.fromEntries([...readFields(schema, bytes, depth)].map(([field, value]) => [field.name, value]));
}

function readFields(schema: MessageSchema, bytes: Uint8Array, depth: number): ReadonlyMap<FieldSchema, unknown> {
  const fields = fieldsByNumber(schema);
  const reader = new BinaryReader(bytes);
  const single = new Map<FieldSchema, unknown>();
  const lists = new Map<FieldSchema, unknown[]>();
  const maps = new Map<FieldSchema, (readonly [string, unknown])[]>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) reader.skip(wireType, number);
    else if (field.shape === 'single') single.set(field, readValue(field, reader, wireType, depth));
    else if (field.shape === 'map') append(maps, field, readEntry(field, reader.bytes(), depth));
    else if (wireType === WireType.LengthDelimited && isPackable(field))
      for (const item of readPacked(field, reader.bytes(), depth)) append(lists, field, item);
    else append(lists, field, readValue(field, reader, wireType, depth));
  }
  const objects = [...maps].map(([field, entries]) => [field, Object.fromEntries(entries)] as const);
  return new Map<FieldSchema, unknown>([...single, ...lists, ...objects]);
}

function append<T>(into: Map<FieldSchema, T[]>, field: FieldSchema, item: T): void {
  const items = into.get(field);
  if (items === undefined) into.set(field, [item]);
  else items.push(item);
}

function readValue(field: FieldSchema, reader: BinaryReader, wireType: WireType, depth: number): unknown {
  const expected = wireTypeOf(field.type);
  if (wireType !== expected) throw new InvalidInput({ message: `proto: wrong wireType = ${wireType} for field ${field.name}` });
  if (field.message !== undefined) return decodeMessage(field.message, reader.bytes(), depth + 1);
  switch (field.type) {
    case 'string':
      return reader.string();
    case 'bytes':
      return base64Encode(reader.bytes());
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'double':
      return reader.double();
    case 'message':
      throw new Error(`${field.name} has no message`);
  }
}

function readPacked(field: FieldSchema, bytes: Uint8Array, depth: number): readonly unknown[] {
  const reader = new BinaryReader(bytes);
  const items: unknown[] = [];
  while (reader.pos < reader.len) items.push(readValue(field, reader, wireTypeOf(field.type), depth));
  return items;
}

/** A map is a list of messages of key and value. */
function readEntry(field: FieldSchema, bytes: Uint8Array, depth: number): readonly [string, unknown] {
  const { message: schema } = field;
  const reader = new BinaryReader(bytes);
  let key = '';
  let value: unknown = schema === undefined ? zeroOf(field.type) : decodeMessage(schema, new Uint8Array(), depth + 1);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) key = reader.string();
    else if (number === 2) value = readValue(field, reader, wireType, depth);
    else reader.skip(wireType, number);
  }
  return [key, value];
}

function decodeTime({ seconds, nanos }: JsonObject, form: 'time' | 'micro-time'): string | undefined {
  if (seconds === undefined && nanos === undefined) return undefined; // no time at all: Go has no other way to say so
  const iso = new Date(Number(seconds ?? 0) * 1000).toISOString().slice(0, 19);
  const micros = Math.floor(Number(nanos ?? 0) / 1000);
  return form === 'time' ? `${iso}Z` : `${iso}.${String(micros).padStart(6, '0')}Z`;
}

/** JSON inside of protobuf. */
function decodeRaw(schema: MessageSchema, bytes: Uint8Array): unknown {
  const reader = new BinaryReader(bytes);
  let value: unknown;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number !== 1) {
      reader.skip(wireType, number);
      continue;
    }
    const raw = reader.bytes();
    if (raw.length === 0) continue;
    try {
      value = JSON.parse(new TextDecoder().decode(raw));
    } catch (cause) {
      throw new InvalidInput({ message: `the raw part of ${schema.name} is no JSON`, cause });
    }
  }
  return value ?? undefined;
}

function fieldsByNumber(schema: MessageSchema): ReadonlyMap<number, FieldSchema> {
  const known = numbered.get(schema);
  if (known !== undefined) return known;
  const fields = new Map(schema.fields.map((field) => [field.number, field]));
  numbered.set(schema, fields);
  return fields;
}

export function wireTypeOf(type: ScalarType | 'message'): WireType {
  if (type === 'double') return WireType.Bit64;
  return type === 'bool' || type === 'int32' || type === 'int64' ? WireType.Varint : WireType.LengthDelimited;
}

function isPackable({ type }: FieldSchema): boolean {
  return wireTypeOf(type) !== WireType.LengthDelimited;
}

function zeroOf(type: ScalarType | 'message'): unknown {
  if (type === 'bool') return false;
  return type === 'string' || type === 'bytes' ? '' : 0;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
