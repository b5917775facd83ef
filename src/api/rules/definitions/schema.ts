import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { JSONSchemaProps } from '#api/types/apiextensions-v1.ts';
import { messageOf } from '#base/errors.ts';
import { validateJunctors } from './schema-junctors.ts';
import { validateCollections } from './schema-lists.ts';

type Level = 'root' | 'field' | 'item';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const unsupported = ['$ref', 'id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies'] as const;
const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
};

/** Whether a schema is structural: every value has a type, and nothing depends on alternatives. Defaults and rules in CEL are not looked at. */
export function validateSchema(schema: JSONSchemaProps, field: string): readonly FieldProblem[] {
  return validateNode(schema, field, 'root');
}

function validateNode(schema: JSONSchemaProps, field: string, level: Level): readonly FieldProblem[] {
  const { items, properties = {}, additionalProperties } = schema;
  return [
    ...validateKeywords(schema, field, level),
    ...validateType(schema, field, level),
    ...validateEmbedded(schema, field, level),
    ...validateCollections(schema, field),
    ...validateJunctors(schema, field),
    ...(items === undefined || isList(items) ? [] : validateNode(items, `${field}.items`, 'item')),
    ...Object.entries(properties).flatMap(([name, property]) => validateNode(property, `${field}.properties[${name}]`, 'field')),
    ...(typeof additionalProperties === 'object' ? validateNode(additionalProperties, `${field}.additionalProperties`, 'field') : []),
  ];
}

/** What the dialect does not have. */
function validateKeywords(schema: JSONSchemaProps, field: string, level: Level): readonly FieldProblem[] {
  const { type, items, pattern, additionalProperties, properties = {}, nullable } = schema;
  const problems: FieldProblem[] = unsupported
    .filter((key) => schema[key] !== undefined)
    .map((key) => forbidden(`${field}.${key}`, `${key} is not supported`));
  if (schema.uniqueItems === true) {
    problems.push(forbidden(`${field}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  }
  if (isList(items)) problems.push(forbidden(`${field}.items`, 'items must be a schema object and not an array'));
  if (type === 'array' && items === undefined) problems.push(required(`${field}.items`, 'must be specified'));
  if (type === 'null') problems.push(forbidden(`${field}.type`, 'type cannot be set to null, use nullable as an alternative'));
  else if (type !== undefined && type !== '' && !types.includes(type)) problems.push(notSupported(`${field}.type`, type, types));
  if (level === 'root' && nullable === true) problems.push(forbidden(`${field}.nullable`, 'nullable cannot be true at the root'));
  if (additionalProperties === false) problems.push(forbidden(`${field}.additionalProperties`, 'additionalProperties cannot be set to false'));
  else if (additionalProperties !== undefined) {
    const at = `${field}.additionalProperties`;
    if (level === 'root') problems.push(forbidden(at, 'must not be used at the root'));
    if (Object.keys(properties).length > 0) problems.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    problems.push(invalid(`${field}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  return [...problems, ...validatePattern(pattern, `${field}.pattern`)];
}

function validatePattern(pattern: string | undefined, field: string): readonly FieldProblem[] {
  if (pattern === undefined) return [];
  try {
    new RegExp(pattern);
    return [];
  } catch (error) {
    return [invalid(field, pattern, `must be a valid regular expression, but isn't: ${messageOf(error)}`)];
  }
}

function validateType(schema: JSONSchemaProps, field: string, level: Level): readonly FieldProblem[] {
  const { type = '' } = schema;
  const at = `${field}.type`;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isAnyScalar = schema['x-kubernetes-int-or-string'] === true;
  const isUntyped = isAnyScalar || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const problems: FieldProblem[] = [];
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    problems.push(type === '' ? required(at, detail) : invalid(at, type, detail));
  } else if (type === '' && !isUntyped) problems.push(required(at, missingType[level]));
  if (level === 'root' && type !== '' && type !== 'object') problems.push(invalid(at, type, 'must be object at the root'));
  if (!isAnyScalar) return problems;
  const detail = 'must be false if x-kubernetes-int-or-string is true';
  for (const key of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[key] === true) problems.push(invalid(`${field}.${key}`, true, detail));
  }
  return problems;
}

/** An object as a whole: at the root, and where one is part of another. */
function validateEmbedded(schema: JSONSchemaProps, field: string, level: Level): readonly FieldProblem[] {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (level !== 'root' && !isEmbedded) return [];
  const { properties = {}, additionalProperties } = schema;
  const problems: FieldProblem[] = [];
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const property = properties[name];
    if (property !== undefined && property.type !== type) {
      problems.push(invalid(`${field}.properties[${name}].type`, property.type ?? '', `must be ${type}`));
    }
  }
  if (properties['metadata'] !== undefined && !isNamesOnly(properties['metadata'])) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    problems.push(forbidden(`${field}.properties[metadata]`, detail));
  }
  if (!isEmbedded) return problems;
  if (additionalProperties !== undefined) {
    problems.push(forbidden(`${field}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (Object.keys(properties).length === 0 && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    problems.push(required(`${field}.properties`, detail));
  }
  return problems;
}

function isNamesOnly({ type: _type, description: _description, default: _default, properties = {}, ...others }: JSONSchemaProps): boolean {
  const isOther = Object.values(others).some((value) => value !== undefined);
  return !isOther && Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
}

function isList(items: JSONSchemaProps['items']): items is readonly JSONSchemaProps[] {
  return Array.isArray(items);
}
