import type { FieldSchema, MessageSchema } from '../schema/message-schema.ts';
import { type FieldType, type ScalarType, type StructField, type StructType, untyped } from './field-type.ts';
import { fieldElement } from './path-element.ts';

/** How the objects of a message are owned. */
export function typeOfMessage(schema: MessageSchema): StructType {
  const known = types.get(schema);
  if (known !== undefined) return known;
  const type = structType(schema, schema.isAtomic);
  types.set(schema, type);
  return type;
}

const types = new WeakMap<MessageSchema, StructType>();

function structType(schema: MessageSchema, isAtomic: boolean): StructType {
  const fields = new Map<string, StructField | undefined>();
  let alwaysThere: readonly string[] | undefined;
  return {
    kind: 'struct',
    isAtomic,
    field: (name) => {
      if (fields.has(name)) return fields.get(name);
      const field = structField(schema, name);
      fields.set(name, field);
      return field;
    },
    get alwaysThere() {
      alwaysThere ??= [...schema.jsonFields.values()].filter((field) => isAlwaysThere(schema, field)).map(({ name }) => name);
      return alwaysThere;
    },
  };
}

function structField(schema: MessageSchema, name: string): StructField | undefined {
  const field = schema.jsonFields.get(name);
  const element = fieldElement(name);
  if (field !== undefined) return { element, type: typeOfField(field), default: field.default };
  const isTypeMeta = schema.scope !== undefined && (name === 'apiVersion' || name === 'kind');
  return isTypeMeta ? { element, type: text, default: undefined } : undefined;
}

const text: ScalarType = { kind: 'scalar', accepts: 'string' };
const anyScalar: ScalarType = { kind: 'scalar', accepts: 'any' };

function typeOfField(field: FieldSchema): FieldType {
  switch (field.shape) {
    case 'single':
      return typeOfValue(field);
    case 'map':
      return { kind: 'map', isAtomic: field.listType === 'atomic', values: typeOfValue(field) };
    case 'list': {
      const owned = field.listType === 'map' || field.listType === 'set' ? field.listType : 'atomic';
      return { kind: 'list', owned, keys: field.listKeys, items: typeOfValue(field) };
    }
  }
}

function typeOfValue({ type, message, shape, listType }: FieldSchema): FieldType {
  if (message === undefined) {
    if (type === 'string' || type === 'bytes') return text;
    return { kind: 'scalar', accepts: type === 'bool' ? 'boolean' : 'number' };
  }
  switch (message.form) {
    case 'object':
      // An atomic struct may be granular in one place: PersistentVolumeSpec.claimRef.
      return shape === 'single' && listType === 'granular' ? structType(message, false) : typeOfMessage(message);
    case 'time':
    case 'micro-time':
    case 'duration':
      return text;
    case 'quantity':
    case 'int-or-string':
      return anyScalar;
    case 'string-list':
      return { kind: 'list', owned: 'atomic', keys: [], items: text };
    case 'raw-object':
    case 'any':
    case 'schema-or-array':
    case 'schema-or-bool':
    case 'schema-or-strings':
      return untyped;
  }
}

/** Go writes these structs even when they are empty; no tag of the schemas tells them from pointers. */
const embedded: ReadonlySet<string> = new Set([
  'apps.v1.DaemonSetSpec.updateStrategy',
  'apps.v1.DeploymentSpec.strategy',
  'apps.v1.StatefulSetSpec.updateStrategy',
  'core.v1.Container.resources',
  'core.v1.EphemeralContainer.resources',
  'core.v1.Event.source',
  'core.v1.NodeStatus.daemonEndpoints',
  'core.v1.NodeStatus.nodeInfo',
  'core.v1.PersistentVolumeClaimSpec.resources',
  'core.v1.ServiceStatus.loadBalancer',
  'networking.v1.IngressStatus.loadBalancer',
]);

function isAlwaysThere(schema: MessageSchema, field: FieldSchema): boolean {
  if (field.shape !== 'single') return field.required; // a null in Go's JSON
  if (field.message?.form !== 'object') return false;
  return field.required || ['metadata', 'spec', 'status'].includes(field.name) || embedded.has(`${schema.name}.${field.name}`);
}
