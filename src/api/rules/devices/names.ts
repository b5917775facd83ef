import { duplicate, type FieldProblem, invalid, required, tooLong, tooMany } from '#api/field-problem.ts';
import { findDuplicates } from '../checks.ts';
import { labelProblems, subdomainProblems } from '../names.ts';

const poolNameMax = 253;
const identifierMax = 32;
const domainMax = 63;

export function validateLabelName(name: string, field: string): readonly FieldProblem[] {
  return labelProblems(name).map((text) => invalid(field, name, text));
}

export function validatePoolName(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field)];
  return [
    ...(name.length > poolNameMax ? [tooLong(field, poolNameMax)] : []),
    ...name.split('/').flatMap((part) => subdomainProblems(part).map((text) => invalid(field, part, text))),
  ];
}

/** The name of an attribute or a capacity: `name`, or `domain/name`. */
export function validateQualifiedName(name: string, field: string, needsDomain: boolean): readonly FieldProblem[] {
  if (name === '') return [required(field, 'name required')];
  const slash = name.indexOf('/');
  if (slash < 0) {
    return needsDomain ? [invalid(field, name, 'must include a domain')] : validateIdentifier(name, field);
  }
  const domain = name.slice(0, slash);
  return [
    ...(domain === '' ? [required(field, 'the domain must not be empty')] : []),
    ...(domain.length > domainMax ? [tooLong(field, domainMax)] : []),
    ...(domain === '' ? [] : subdomainProblems(domain).map((text) => invalid(field, domain, text))),
    ...validateIdentifier(name.slice(slash + 1), field),
  ];
}

function validateIdentifier(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field, 'the name must not be empty')];
  return [
    ...(name.length > identifierMax ? [tooLong(field, identifierMax)] : []),
    ...(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      ? []
      : [
          invalid(
            field,
            name,
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
          ),
        ]),
  ];
}

/** A list of limited length whose items tell themselves apart. */
export function validateSet<T>(
  items: readonly T[],
  max: number,
  keyOf: (item: T) => string,
  validateItem: (item: T, field: string) => readonly FieldProblem[],
  field: string,
): readonly FieldProblem[] {
  return [
    ...(items.length > max ? [tooMany(field, items.length, max)] : []),
    ...items.flatMap((item, index) => validateItem(item, `${field}[${index}]`)),
    ...findDuplicates(items, keyOf, (item, index) => duplicate(`${field}[${index}]`, keyOf(item))),
  ];
}
