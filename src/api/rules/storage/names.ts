import { type FieldProblem, invalid, required, tooLong } from '#api/field-problem.ts';
import type { SecretReference } from '#api/types/core-v1.ts';
import { byteLength } from '../checks.ts';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';

const driverNameMax = 63;

/** The name by which a CSI driver registers. */
export function validateDriverName(name: string, field: string): readonly FieldProblem[] {
  return [
    ...(name === '' ? [required(field)] : []),
    ...(name.length > driverNameMax ? [tooLong(field, driverNameMax)] : []),
    ...subdomainProblems(name.toLowerCase()).map((problem) => invalid(field, name, problem)),
  ];
}

export function validateClassName(name: string, field: string): readonly FieldProblem[] {
  return subdomainProblems(name).map((problem) => invalid(field, name, problem));
}

/** Who makes volumes. */
export function validateProvisioner(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field)];
  return qualifiedNameProblems(name.toLowerCase()).map((problem) => invalid(field, name.toLowerCase(), problem));
}

const parametersMax = 512;
const parametersMaxBytes = 256 * 1024;

/** What a class hands to its driver. */
export function validateParameters(parameters: Readonly<Record<string, string>>, field: string): readonly FieldProblem[] {
  const entries = Object.entries(parameters);
  if (entries.length > parametersMax) return [tooLong(field, parametersMax)];
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...entries.filter(([key]) => key === '').map(([key]) => invalid(field, key, 'field can not be empty.')),
    ...(bytes > parametersMaxBytes ? [tooLong(field, parametersMaxBytes)] : []),
  ];
}

export function validateSecretReference({ name = '', namespace = '' }: SecretReference, field: string): readonly FieldProblem[] {
  return [
    ...(name === '' ? [required(`${field}.name`)] : subdomainProblems(name).map((problem) => invalid(`${field}.name`, name, problem))),
    ...(namespace === ''
      ? [required(`${field}.namespace`)]
      : labelProblems(namespace).map((problem) => invalid(`${field}.namespace`, namespace, problem))),
  ];
}
