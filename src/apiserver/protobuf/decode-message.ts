import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { FieldSchema, MessageSchema, ScalarType } from '#api/schema/message-schema.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import { meaningfulZeros } from './meaningful-zeros.ts';
import { decodeForm } from './special-forms.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Deeper than any real object; keeps a hostile body from exhausting the stack. */
const depthMax = 200;

/**
 * Reads the protobuf form of a message as the JSON value that means the same; numbers that the schema does not know are skipped.
 *
 * @throws {InvalidInput}
 */
export function decodeProtobuf(schema: MessageSchema, bytes: Uint8Array): JsonObject {
  try {
    return decodeMessage(schema, bytes, 0);
  } catch (cause) {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput({ message: `proto: ${messageOf(cause)}`, cause });
  }
}

function decodeMessage(schema: MessageSchema, bytes: Uint8Array, depth: number): JsonObject {
  if (depth > depthMax) throw new InvalidInput({ message: 'proto: exceeded max depth' });
  const values = new Map<string, unknown>();
  const maps = new Map<string, Map<string, unknown>>();
  const fields = fieldsByNumber(schema);
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) reader.skip(wireType);
    else if (field.shape === 'map') addEntry(maps, field, reader.bytes(), depth);
    else addField(values, field, reader, wireType, depth);
  }
  for (const [name, map] of maps) values.set(name, Object.fromEntries(map));
  return Object.fromEntries(values); // not by assignment: a key may be `__proto__`
}

const numbered = new WeakMap<MessageSchema, ReadonlyMap<number, FieldSchema>>();

function fieldsByNumber(schema: MessageSchema): ReadonlyMap<number, FieldSchema> {
  const known = numbered.get(schema);
  if (known !== undefined) return known;
  const fields = new Map(schema.fields.map((field) => [field.number, field]));
  numbered.set(schema, fields);
  return fields;
}

function addField(values: Map<string, unknown>, field: FieldSchema, reader: BinaryReader, wireType: WireType, depth: number): void {
  const { name } = field;
  if (field.shape === 'list') {
    const before = values.get(name);
    const list: unknown[] = Array.isArray(before) ? before : [];
    list.push(...readItems(field, reader, wireType, depth));
    values.set(name, list);
    return;
  }
  const value = readOne(field, reader, depth);
  if (field.inline) {
    for (const [key, item] of Object.entries(value as JsonObject)) values.set(key, item); // an inlined field is a message
  } else if (value !== undefined && (!isZero(value) || field.required || meaningfulZeros.has(name))) values.set(name, value);
}

function addEntry(maps: Map<string, Map<string, unknown>>, field: FieldSchema, bytes: Uint8Array, depth: number): void {
  const map = maps.get(field.name) ?? new Map<string, unknown>();
  map.set(...readEntry(field, bytes, depth));
  maps.set(field.name, map);
}

function readItems(field: FieldSchema, reader: BinaryReader, wireType: WireType, depth: number): readonly unknown[] {
  const isPacked = wireType === WireType.LengthDelimited && field.type !== 'message' && field.type !== 'string' && field.type !== 'bytes';
  if (!isPacked) return [readOne(field, reader, depth)];
  const packed = new BinaryReader(reader.bytes());
  const items: unknown[] = [];
  while (packed.pos < packed.len) items.push(readOne(field, packed, depth));
  return items;
}

function readEntry(field: FieldSchema, bytes: Uint8Array, depth: number): readonly [string, unknown] {
  const reader = new BinaryReader(bytes);
  let key = '';
  let value: unknown;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) key = reader.string();
    else if (number === 2) value = readOne(field, reader, depth);
    else reader.skip(wireType);
  }
  return [key, value ?? (field.type === 'string' || field.type === 'bytes' ? '' : undefined)];
}

function readOne(field: FieldSchema, reader: BinaryReader, depth: number): unknown {
  if (field.message !== undefined) {
    const { message } = field;
    const bytes = reader.bytes();
    return message.form === 'object' ? decodeMessage(message, bytes, depth + 1) : decodeForm(message, bytes);
  }
  return readScalar(field.type, reader);
}

function readScalar(type: FieldSchema['type'], reader: BinaryReader): unknown {
  switch (type satisfies ScalarType | 'message') {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'double':
      return reader.double();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'message':
      throw new Error('a field of a message has no message');
  }
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}
