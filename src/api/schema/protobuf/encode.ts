import { BinaryWriter, base64Decode } from '@bufbuild/protobuf/wire';
import type { FieldSchema, MessageSchema } from '../message-schema.ts';
import { wireTypeOf } from './decode.ts';
import { parseGoDuration } from './go-duration.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The protobuf form of an object that `decodeJson` has checked. `apiVersion` and `kind` are not in it: they belong to the envelope.
 *
 * @throws {Error} when a value is not what its schema says
 */
export function encodeProtobuf(schema: MessageSchema, object: JsonObject): Uint8Array {
  const out = new BinaryWriter();
  writeObject(out, schema, object);
  return out.finish();
}

function writeObject(out: BinaryWriter, schema: MessageSchema, object: JsonObject): void {
  for (const field of inOrder(schema)) {
    if (field.inline && field.message !== undefined) {
      const { message } = field;
      part(out, field.number, (inner) => writeObject(inner, message, object));
      continue;
    }
    const value = object[field.name];
    if (value === undefined || value === null) continue;
    if (field.shape === 'list' && Array.isArray(value)) for (const item of value) writeValue(out, field, field.number, item);
    else if (field.shape === 'map') writeMap(out, field, value);
    else writeValue(out, field, field.number, value);
  }
}

const ordered = new WeakMap<MessageSchema, readonly FieldSchema[]>();

function inOrder(schema: MessageSchema): readonly FieldSchema[] {
  const known = ordered.get(schema);
  if (known !== undefined) return known;
  const fields = [...schema.fields].sort((a, b) => a.number - b.number);
  ordered.set(schema, fields);
  return fields;
}

function writeMap(out: BinaryWriter, field: FieldSchema, value: unknown): void {
  for (const [key, item] of Object.entries(objectOf(value)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    part(out, field.number, (inner) => {
      inner.tag(1, 2).string(key);
      writeValue(inner, field, 2, item);
    });
  }
}

function writeValue(out: BinaryWriter, field: FieldSchema, number: number, value: unknown): void {
  const { message } = field;
  if (message !== undefined) {
    part(out, number, (inner) => writeMessage(inner, message, value));
    return;
  }
  out.tag(number, wireTypeOf(field.type));
  switch (field.type) {
    case 'string':
      out.string(String(value));
      break;
    case 'bytes':
      out.bytes(base64Decode(String(value)));
      break;
    case 'bool':
      out.bool(value === true);
      break;
    case 'int32':
      out.int32(Number(value));
      break;
    case 'int64':
      out.int64(BigInt(Number(value)));
      break;
    case 'double':
      out.double(Number(value));
      break;
    case 'message':
      throw new Error(`${field.name} has no message`);
  }
}

function writeMessage(out: BinaryWriter, schema: MessageSchema, value: unknown): void {
  switch (schema.form) {
    case 'object':
      writeObject(out, schema, objectOf(value));
      break;
    case 'time':
    case 'micro-time':
      writeTime(out, String(value));
      break;
    case 'duration':
      out.tag(1, 0).int64(parseGoDuration(String(value)));
      break;
    case 'quantity':
      out.tag(1, 2).string(String(value));
      break;
    case 'int-or-string':
      if (typeof value === 'number') out.tag(1, 0).int64(0).tag(2, 0).int32(value).tag(3, 2).string('');
      else out.tag(1, 0).int64(1).tag(2, 0).int32(0).tag(3, 2).string(String(value));
      break;
    case 'raw-object':
    case 'any':
      out.tag(1, 2).bytes(new TextEncoder().encode(JSON.stringify(value)));
      break;
    case 'string-list':
      for (const item of listOf(value)) out.tag(1, 2).string(String(item));
      break;
    case 'schema-or-array':
    case 'schema-or-bool':
    case 'schema-or-strings':
      writeSchemaOr(out, schema, value);
      break;
  }
}

function writeTime(out: BinaryWriter, text: string): void {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  out.tag(1, 0).int64(Math.floor(Date.parse(text) / 1000));
  out.tag(2, 0).int32(Number(fraction.slice(0, 9).padEnd(9, '0')));
}

function writeSchemaOr(out: BinaryWriter, schema: MessageSchema, value: unknown): void {
  const fields = new Map(schema.fields.map((field) => [field.name, field]));
  const write = (name: string, item: unknown) => {
    const field = fields.get(name);
    if (field !== undefined) writeValue(out, field, field.number, item);
  };
  if (Array.isArray(value)) for (const item of value) write(schema.form === 'schema-or-array' ? 'jSONSchemas' : 'property', item);
  else if (typeof value === 'boolean') write('allows', value);
  else {
    write('allows', true); // a schema is a condition under which more is allowed
    write('schema', value);
  }
}

function part(out: BinaryWriter, number: number, write: (out: BinaryWriter) => void): void {
  out.tag(number, 2).fork();
  write(out);
  out.join();
}

function objectOf(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the schema has an object here');
  return { ...value };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
