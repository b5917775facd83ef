import { type FieldProblem, forbidden, required } from '#api/field-problem.ts';
import type { JSONSchemaProps } from '#api/types/apiextensions-v1.ts';

/** What an alternative may not say, and how upstream puts it. */
const structuralOnly: Readonly<Partial<Record<keyof JSONSchemaProps, 'empty' | 'undefined' | 'false'>>> = {
  type: 'empty',
  title: 'empty',
  description: 'empty',
  default: 'undefined',
  additionalProperties: 'undefined',
  nullable: 'false',
  'x-kubernetes-preserve-unknown-fields': 'false',
  'x-kubernetes-embedded-resource': 'false',
  'x-kubernetes-int-or-string': 'false',
  'x-kubernetes-list-map-keys': 'empty',
  'x-kubernetes-list-type': 'undefined',
  'x-kubernetes-map-type': 'undefined',
  'x-kubernetes-validations': 'empty',
};

/** allOf, anyOf, oneOf and not restrict values; what there is, and of which type, is said outside of them. */
export function validateJunctors(schema: JSONSchemaProps, field: string): readonly FieldProblem[] {
  return junctorsOf(schema, field, isIntOrString(schema)).flatMap(([junctor, at]) => validateNested(junctor, at, schema, field));
}

function validateNested(nested: JSONSchemaProps, at: string, schema: JSONSchemaProps, field: string): readonly FieldProblem[] {
  const { properties = {}, items } = nested;
  const given = new Map<string, unknown>(Object.entries(nested));
  const problems: FieldProblem[] = Object.entries(structuralOnly)
    .filter(([key]) => isSaid(given.get(key)))
    .map(([key, how]) => forbidden(`${at}.${key}`, `must be ${how} to be structural`));
  for (const [name, property] of Object.entries(properties)) {
    const outside = schema.properties?.[name];
    const place = `${field}.properties[${name}]`;
    if (outside !== undefined) problems.push(...validateNested(property, `${at}.properties[${name}]`, outside, place));
    else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && typeof schema.additionalProperties !== 'object') {
      problems.push(required(place, `because it is defined in ${at}.properties[${name}]`));
    }
  }
  const itemsOutside = isSchema(schema.items) ? schema.items : undefined;
  if (isSchema(items)) {
    if (itemsOutside === undefined) problems.push(required(`${field}.items`, `because it is defined in ${at}.items`));
    else problems.push(...validateNested(items, `${at}.items`, itemsOutside, `${field}.items`));
  }
  return [...problems, ...junctorsOf(nested, at, false).flatMap(([inner, place]) => validateNested(inner, place, schema, field))];
}

function junctorsOf(
  { allOf = [], anyOf = [], oneOf = [], not }: JSONSchemaProps,
  field: string,
  skipsTypes: boolean,
): readonly (readonly [JSONSchemaProps, string])[] {
  const entries = (name: string, schemas: readonly JSONSchemaProps[]) =>
    schemas.map((schema, index) => [schema, `${field}.${name}[${index}]`] as const);
  const isTypes = (schemas: readonly JSONSchemaProps[] = []) => skipsTypes && schemas.map(({ type }) => type).join() === 'integer,string';
  return [
    ...entries('allOf', allOf).filter(([{ anyOf: inner }], index) => index > 0 || !isTypes(inner)),
    ...(isTypes(anyOf) ? [] : entries('anyOf', anyOf)),
    ...entries('oneOf', oneOf),
    ...(not === undefined ? [] : [[not, `${field}.not`] as const]),
  ];
}

/** The one place where alternatives may have types. */
function isIntOrString(schema: JSONSchemaProps): boolean {
  return schema['x-kubernetes-int-or-string'] === true;
}

function isSaid(value: unknown): boolean {
  if (value === undefined || value === '' || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

function isSchema(items: JSONSchemaProps['items']): items is JSONSchemaProps {
  return items !== undefined && !Array.isArray(items);
}
