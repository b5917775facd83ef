import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Json } from './definitions.ts';

/**
 * An OpenAPI v2 document in the protobuf form of the gnostic project: the only one that kubectl below 1.27 and typed clients ask for.
 * Covers what `openApiV2` prints. Field numbers: gnostic's `OpenAPIv2.proto`.
 */
export function encodeOpenApiV2(document: Json): Uint8Array {
  const info = objectOf(document['info']);
  return message((out) => {
    text(out, 1, document['swagger']);
    part(out, 2, (inner) => {
      text(inner, 1, info['title']);
      text(inner, 2, info['version']);
    });
    part(out, 8, (inner) => named(inner, 2, objectOf(document['paths']), writePathItem));
    part(out, 9, (inner) => named(inner, 1, objectOf(document['definitions']), writeSchema));
  });
}

const methods: readonly (readonly [name: string, number: number])[] = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['patch', 8],
];

function writePathItem(out: BinaryWriter, item: Json): void {
  for (const [name, number] of methods) {
    const operation = item[name];
    if (operation !== undefined) part(out, number, (inner) => writeOperation(inner, objectOf(operation)));
  }
  for (const parameter of listOf(item['parameters'])) part(out, 9, (inner) => writeParameter(inner, objectOf(parameter)));
}

function writeOperation(out: BinaryWriter, operation: Json): void {
  text(out, 5, operation['operationId']);
  for (const type of listOf(operation['produces'])) text(out, 6, type);
  for (const type of listOf(operation['consumes'])) text(out, 7, type);
  for (const parameter of listOf(operation['parameters'])) part(out, 8, (inner) => writeParameter(inner, objectOf(parameter)));
  part(out, 9, (inner) => named(inner, 1, objectOf(operation['responses']), writeResponse));
  extensions(out, 13, operation);
}

/** ParametersItem > Parameter > the parameter of its kind. */
function writeParameter(out: BinaryWriter, parameter: Json): void {
  part(out, 1, (inner) => {
    switch (parameter['in']) {
      case 'body':
        part(inner, 1, (body) => {
          text(body, 2, parameter['name']);
          text(body, 3, parameter['in']);
          flag(body, 4, parameter['required']);
          part(body, 5, (schema) => writeSchema(schema, objectOf(parameter['schema'])));
        });
        break;
      case 'query':
        part(inner, 2, (other) => part(other, 3, (query) => writePlainParameter(query, parameter, { type: 6, uniqueItems: 20 })));
        break;
      default:
        part(inner, 2, (other) => part(other, 4, (path) => writePlainParameter(path, parameter, { type: 5, uniqueItems: 19 })));
    }
  });
}

function writePlainParameter(out: BinaryWriter, parameter: Json, numbers: { readonly type: number; readonly uniqueItems: number }): void {
  flag(out, 1, parameter['required']);
  text(out, 2, parameter['in']);
  text(out, 4, parameter['name']);
  text(out, numbers.type, parameter['type']);
  flag(out, numbers.uniqueItems, parameter['uniqueItems']);
}

/** ResponseValue > Response > SchemaItem > Schema. */
function writeResponse(out: BinaryWriter, response: Json): void {
  part(out, 1, (inner) => {
    text(inner, 1, response['description']);
    const schema = response['schema'];
    if (schema !== undefined) part(inner, 2, (item) => part(item, 1, (of) => writeSchema(of, objectOf(schema))));
  });
}

function writeSchema(out: BinaryWriter, schema: Json): void {
  const { additionalProperties, items, properties } = schema;
  text(out, 1, schema['$ref']);
  text(out, 2, schema['format']);
  text(out, 4, schema['description']);
  for (const name of listOf(schema['required'])) text(out, 19, name);
  if (additionalProperties !== undefined) {
    part(out, 21, (inner) => part(inner, 1, (of) => writeSchema(of, objectOf(additionalProperties))));
  }
  if (schema['type'] !== undefined) part(out, 22, (inner) => text(inner, 1, schema['type']));
  if (items !== undefined) part(out, 23, (inner) => part(inner, 1, (of) => writeSchema(of, objectOf(items))));
  if (properties !== undefined) part(out, 25, (inner) => named(inner, 1, objectOf(properties), writeSchema));
  extensions(out, 31, schema);
}

/** NamedAny > Any, whose text is YAML: JSON is. */
function extensions(out: BinaryWriter, number: number, object: Json): void {
  for (const [name, value] of Object.entries(object)) {
    if (!name.startsWith('x-')) continue;
    part(out, number, (inner) => {
      text(inner, 1, name);
      part(inner, 2, (any) => text(any, 2, JSON.stringify(value)));
    });
  }
}

/** A map: one message of name and value an entry. */
function named(out: BinaryWriter, number: number, map: Json, write: (out: BinaryWriter, value: Json) => void): void {
  for (const [name, value] of Object.entries(map)) {
    part(out, number, (inner) => {
      text(inner, 1, name);
      part(inner, 2, (of) => write(of, objectOf(value)));
    });
  }
}

function message(write: (out: BinaryWriter) => void): Uint8Array {
  const out = new BinaryWriter();
  write(out);
  return out.finish();
}

function part(out: BinaryWriter, number: number, write: (out: BinaryWriter) => void): void {
  out.tag(number, 2).fork();
  write(out);
  out.join();
}

function text(out: BinaryWriter, number: number, value: unknown): void {
  if (typeof value === 'string' && value !== '') out.tag(number, 2).string(value);
}

function flag(out: BinaryWriter, number: number, value: unknown): void {
  if (value === true) out.tag(number, 0).bool(true);
}

function objectOf(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('an OpenAPI document has an object here');
  return { ...value };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
