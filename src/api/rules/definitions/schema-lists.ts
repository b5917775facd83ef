import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { JSONSchemaProps } from '#api/types/apiextensions-v1.ts';
import { findDuplicates } from '../checks.ts';

const listTypes = ['atomic', 'map', 'set'];
const mapTypes = ['atomic', 'granular'];

/** How lists and maps are merged. */
export function validateCollections(schema: JSONSchemaProps, field: string): readonly FieldProblem[] {
  return [...validateMapType(schema, field), ...validateListType(schema, field)];
}

function validateMapType({ type = '', 'x-kubernetes-map-type': mapType }: JSONSchemaProps, field: string): readonly FieldProblem[] {
  if (mapType === undefined) return [];
  return [
    ...(mapTypes.includes(mapType) ? [] : [notSupported(`${field}.x-kubernetes-map-type`, mapType, mapTypes)]),
    ...(type === 'object' ? [] : [invalid(`${field}.type`, type, 'must be object if x-kubernetes-map-type is specified')]),
  ];
}

function validateListType(schema: JSONSchemaProps, field: string): readonly FieldProblem[] {
  const { type = '', 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const at = `${field}.x-kubernetes-list-map-keys`;
  if (listType === undefined) {
    return keys.length === 0 ? [] : [required(`${field}.x-kubernetes-list-type`, 'must be map if x-kubernetes-list-map-keys is non-empty')];
  }
  const problems: FieldProblem[] = [];
  if (!listTypes.includes(listType)) problems.push(notSupported(`${field}.x-kubernetes-list-type`, listType, listTypes));
  if (type !== 'array') problems.push(invalid(`${field}.type`, type, 'must be array if x-kubernetes-list-type is specified'));
  if (listType !== 'map' && keys.length > 0) problems.push(forbidden(at, 'must be empty if x-kubernetes-list-type is not map'));
  const items = schema.items === undefined || isList(schema.items) ? undefined : schema.items;
  if (listType === 'set' && items !== undefined) problems.push(...validateSetItems(items, `${field}.items`));
  if (listType !== 'map') return problems;
  if (keys.length === 0) problems.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  const repeated = findDuplicates(
    keys,
    (key) => key,
    (key, index) => duplicate(`${at}[${index}]`, key),
  );
  return [...problems, ...repeated, ...(items === undefined ? [] : validateKeys(items, keys, `${field}.items`, at))];
}

/** Items of a set are compared as a whole. */
function validateSetItems({ type, nullable, ...items }: JSONSchemaProps, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (nullable === true) problems.push(forbidden(`${field}.nullable`, 'cannot be nullable when x-kubernetes-list-type is set'));
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (type === 'array' && items['x-kubernetes-list-type'] !== 'atomic') {
    problems.push(invalid(`${field}.x-kubernetes-list-type`, items['x-kubernetes-list-type'], detail));
  }
  if (type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    problems.push(invalid(`${field}.x-kubernetes-map-type`, items['x-kubernetes-map-type'], detail));
  }
  return problems;
}

/** An item is found by its keys: each has to be there, and plain. */
function validateKeys(items: JSONSchemaProps, keys: readonly string[], field: string, at: string): readonly FieldProblem[] {
  const { properties = {}, required: needed = [] } = items;
  if (keys.some((key) => properties[key] === undefined)) {
    return [invalid(at, keys, 'entries must all be names of item properties')];
  }
  return keys.flatMap((key) => {
    const property = properties[key] ?? {};
    const place = `${field}.properties[${key}]`;
    const problems: FieldProblem[] = [];
    if (property.type === 'array' || property.type === 'object') {
      problems.push(invalid(`${place}.type`, property.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (!needed.includes(key) && property.default === undefined) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      problems.push(required(`${place}.default`, detail));
    }
    if (property.nullable === true) {
      problems.push(forbidden(`${place}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'));
    }
    return problems;
  });
}

function isList(items: JSONSchemaProps['items']): items is readonly JSONSchemaProps[] {
  return Array.isArray(items);
}
