import { deepEqual } from '#api/deep-equal.ts';
import { duplicate, type FieldProblem, invalid, required, tooLong, tooMany } from '#api/field-problem.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '#api/types/apiextensions-v1.ts';
import { byteLength, findDuplicates } from '../checks.ts';
import { dns1035LabelProblems } from '../names.ts';
import { validateSchema } from './schema.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const selectableMax = 8;
const warningMaxBytes = 256;

/** @param field `spec` */
export function validateVersions(versions: readonly CustomResourceDefinitionVersion[], field: string): readonly FieldProblem[] {
  const at = `${field}.versions`;
  const names = versions.map(({ name }) => name);
  return [
    ...versions.flatMap((version, index) => validateVersion(version, `${at}[${index}]`)),
    ...validateParts(versions, field),
    ...(new Set(names).size === names.length ? [] : [invalid(at, versions, 'must contain unique version names')]),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [invalid(at, versions, 'must have exactly one version marked as storage version')]),
  ];
}

function validateVersion({ name = '', deprecated = false, deprecationWarning: warning }: CustomResourceDefinitionVersion, field: string) {
  const problems: FieldProblem[] = [];
  const nameProblems = dns1035LabelProblems(name);
  if (nameProblems.length > 0) problems.push(invalid(`${field}.name`, name, nameProblems.join(',')));
  if (warning === undefined) return problems;
  const at = `${field}.deprecationWarning`;
  if (!deprecated) problems.push(invalid(at, warning, 'can only be set for deprecated versions'));
  else if (warning === '') problems.push(invalid(at, warning, 'must not be empty if specified'));
  else if (byteLength(warning) > warningMaxBytes) problems.push(tooLong(at, warningMaxBytes));
  return problems;
}

/** What is the same in all versions is reported once, where upstream's internal form has it. */
function validateParts(versions: readonly CustomResourceDefinitionVersion[], field: string): readonly FieldProblem[] {
  return [
    ...places(versions, ({ schema }) => schema, field, 'schema', 'validation').flatMap(([schema, at]) =>
      schema?.openAPIV3Schema === undefined
        ? [required(`${at}.openAPIV3Schema`, 'schemas are required')]
        : validateSchema(schema.openAPIV3Schema, `${at}.openAPIV3Schema`),
    ),
    ...places(versions, ({ subresources }) => subresources, field, 'subresources').flatMap(([part, at]) => validateSubresources(part ?? {}, at)),
    ...places(versions, ({ additionalPrinterColumns }) => additionalPrinterColumns, field, 'additionalPrinterColumns').flatMap(([columns, at]) =>
      (columns ?? []).flatMap((column, index) => validateColumn(column, `${at}[${index}]`)),
    ),
    ...places(versions, ({ selectableFields }) => selectableFields, field, 'selectableFields').flatMap(([fields, at]) =>
      validateSelectableFields(fields ?? [], at),
    ),
  ];
}

function places<T>(
  versions: readonly CustomResourceDefinitionVersion[],
  read: (version: CustomResourceDefinitionVersion) => T,
  field: string,
  name: string,
  commonName = name,
): readonly (readonly [T, string])[] {
  const parts = versions.map(read);
  const [first] = parts;
  if (first !== undefined && parts.every((part) => deepEqual(part, first))) return [[first, `${field}.${commonName}`]];
  return parts.map((part, index) => [part, `${field}.versions[${index}].${name}`]);
}

function validateSubresources({ scale }: CustomResourceSubresources, field: string): readonly FieldProblem[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  return [
    ...validateScalePath(specReplicasPath ?? '', ['.spec'], `${field}.scale.specReplicasPath`),
    ...validateScalePath(statusReplicasPath ?? '', ['.status'], `${field}.scale.statusReplicasPath`),
    ...(labelSelectorPath === '' ? [] : validateScalePath(labelSelectorPath, ['.spec', '.status'], `${field}.scale.labelSelectorPath`)),
  ];
}

function validateScalePath(path: string, roots: readonly string[], field: string): readonly FieldProblem[] {
  if (path === '') return [required(field)];
  const problems = validatePath(path, field);
  if (problems.length > 0 || roots.some((root) => path.startsWith(`${root}.`))) return problems;
  return [invalid(field, path, `should be a json path under ${roots.length > 1 ? 'either ' : ''}${roots.join(' or ')}`)];
}

function validatePath(path: string, field: string): readonly FieldProblem[] {
  return path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];
}

function validateColumn(
  { name = '', type = '', format = '', jsonPath = '' }: CustomResourceColumnDefinition,
  field: string,
): readonly FieldProblem[] {
  const oneOf = (texts: readonly string[]) => `must be one of ${texts.join(',')}`;
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(type === '' ? [required(`${field}.type`, oneOf(columnTypes))] : []),
    ...(type === '' || columnTypes.includes(type) ? [] : [invalid(`${field}.type`, type, oneOf(columnTypes))]),
    ...(format === '' || columnFormats.includes(format) ? [] : [invalid(`${field}.format`, format, oneOf(columnFormats))]),
    ...(jsonPath === '' ? [required(`${field}.JSONPath`)] : validatePath(jsonPath, `${field}.JSONPath`)),
  ];
}

function validateSelectableFields(fields: readonly SelectableField[], field: string): readonly FieldProblem[] {
  return [
    ...(fields.length > selectableMax ? [tooMany(field, fields.length, selectableMax)] : []),
    ...fields.flatMap(({ jsonPath = '' }, index): readonly FieldProblem[] => {
      const at = `${field}[${index}].jsonPath`;
      if (jsonPath === '') return [required(at)];
      if (/^\.metadata\b/.test(jsonPath)) return [invalid(at, jsonPath, 'must not point to fields in metadata')];
      return validatePath(jsonPath, at);
    }),
    ...findDuplicates(
      fields,
      ({ jsonPath }) => jsonPath,
      ({ jsonPath }, index) => duplicate(`${field}[${index}].jsonPath`, jsonPath),
    ),
  ];
}
