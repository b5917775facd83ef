import { type FieldSchema, type MessageSchema, schemaOf } from '../message-schema.ts';
import type { Descriptions } from './descriptions.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Dialect = 'v2' | 'v3';

/** The name that upstream publishes a message under: clients such as client generators know some by it. */
export function definitionName(message: string): string {
  const pkg = message.slice(0, message.lastIndexOf('.'));
  return `${packages[pkg] ?? `io.k8s.api.${pkg}`}${message.slice(message.lastIndexOf('.'))}`;
}

const packages: Readonly<Record<string, string>> = {
  'meta.v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  'api.resource': 'io.k8s.apimachinery.pkg.api.resource',
  'util.intstr': 'io.k8s.apimachinery.pkg.util.intstr',
  runtime: 'io.k8s.apimachinery.pkg.runtime',
  'apiextensions.v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
};

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function refTo(message: string, dialect: Dialect): Json {
  return { $ref: `${dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${definitionName(message)}` };
}

/**
 * The definitions of messages and of everything that they are made of, by published name.
 *
 * @param roots names of messages, each with the kinds that objects of it may say they are
 */
export function definitionsOf(roots: ReadonlyMap<string, readonly GroupVersionKind[]>, dialect: Dialect, descriptions: Descriptions): Json {
  const found = new Map<string, Json>();
  const waiting = [...roots.keys()];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const schema = schemaOf(name);
    found.set(name, definitionOf(schema, roots.get(name) ?? [], dialect, descriptions));
    for (const field of schema.jsonFields.values()) if (field.message !== undefined) waiting.push(field.message.name);
  }
  const sorted = [...found].map(([name, definition]) => [definitionName(name), definition] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted);
}

function definitionOf(schema: MessageSchema, kinds: readonly GroupVersionKind[], dialect: Dialect, descriptions: Descriptions): Json {
  const description = described(descriptions.ofMessage(schema.name));
  if (schema.form !== 'object') return { ...description, ...specialDefinition(schema, dialect) };
  const fields = [...schema.jsonFields.values()];
  const isKind = kinds.length > 0 || schema.scope !== undefined;
  const typeMeta = isKind
    ? ['apiVersion', 'kind'].map((name) => [name, { ...described(descriptions.ofField(schema.name, name)), type: 'string' }])
    : [];
  const properties = fields.map((field) => [field.name, propertyOf(field, textOf(schema, field, descriptions), dialect)]);
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return {
    ...description,
    type: 'object',
    ...(typeMeta.length + properties.length > 0 ? { properties: Object.fromEntries([...typeMeta, ...properties]) } : {}),
    ...(required.length > 0 ? { required: required.sort() } : {}),
    ...(schema.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(kinds.length > 0 ? { 'x-kubernetes-group-version-kind': kinds } : {}),
  };
}

/** A field that nothing is known of is what its message is. */
function textOf(schema: MessageSchema, field: FieldSchema, descriptions: Descriptions): string {
  const own = descriptions.ofField(schema.name, field.name);
  const { message: target, shape } = field;
  return own !== '' || shape !== 'single' || target === undefined ? own : descriptions.ofMessage(target.name);
}

function described(description: string): Json {
  return description === '' ? {} : { description };
}

function specialDefinition({ form }: MessageSchema, dialect: Dialect): Json {
  switch (form) {
    case 'time':
    case 'micro-time':
      return { type: 'string', format: 'date-time' };
    case 'quantity':
      return dialect === 'v2' ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'int-or-string':
      return dialect === 'v2'
        ? { type: 'string', format: 'int-or-string' }
        : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'duration':
      return { type: 'string' };
    case 'string-list':
      return { type: 'array', items: { type: 'string' } };
    case 'raw-object':
    case 'object':
      return { type: 'object' };
    case 'any':
    case 'schema-or-array':
    case 'schema-or-bool':
    case 'schema-or-strings':
      return {};
  }
}

function propertyOf(field: FieldSchema, description: string, dialect: Dialect): Json {
  const one = typeOf(field, dialect);
  const beside: Json = { ...described(description), ...hintsOf(field) };
  switch (field.shape) {
    case 'list':
      return { ...beside, type: 'array', items: one };
    case 'map':
      return { ...beside, type: 'object', additionalProperties: one };
    case 'single':
      // In OpenAPI 3.0 nothing may stand beside a $ref.
      return dialect === 'v3' && '$ref' in one && Object.keys(beside).length > 0 ? { ...beside, allOf: [one] } : { ...beside, ...one };
  }
}

function hintsOf(field: FieldSchema): Json {
  return {
    ...(field.shape === 'list' && field.listType !== undefined ? { 'x-kubernetes-list-type': field.listType } : {}),
    ...(field.listType === 'map' ? { 'x-kubernetes-list-map-keys': field.listKeys } : {}),
    ...(field.shape !== 'list' && field.listType !== undefined ? { 'x-kubernetes-map-type': field.listType } : {}),
    ...(field.patchStrategies.length > 0 ? { 'x-kubernetes-patch-strategy': field.patchStrategies.join(',') } : {}),
    ...(field.mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.mergeKey }),
    ...(field.default === undefined || field.shape !== 'single' ? {} : { default: defaultOf(field.type, field.default) }),
  };
}

function defaultOf(type: FieldSchema['type'], text: string): unknown {
  return type === 'string' ? text : JSON.parse(text);
}

function typeOf(field: FieldSchema, dialect: Dialect): Json {
  if (field.message !== undefined) return refTo(field.message.name, dialect);
  switch (field.type) {
    case 'string':
      return { type: 'string' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'bool':
      return { type: 'boolean' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: field.type };
    case 'double':
      return { type: 'number', format: 'double' };
    case 'message':
      throw new Error(`${field.name} has no message`);
  }
}
