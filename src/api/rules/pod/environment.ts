import { type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { EnvFromSource, EnvVar, EnvVarSource, ObjectFieldSelector, ResourceFieldSelector } from '#api/types/core-v1.ts';
import { configKeyProblems, environmentNameProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';

/** Fields of a pod that a variable may show. */
const variableFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Fields of a pod that a file may show. */
export const fileFields: readonly string[] = ['metadata.name', 'metadata.namespace', 'metadata.uid', 'metadata.labels', 'metadata.annotations'];
const resourceFields = ['limits.cpu', 'limits.memory', 'limits.ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.ephemeral-storage'];

export function validateEnvironment(env: readonly EnvVar[], field: string): readonly FieldProblem[] {
  return env.flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const name = variable.name ?? '';
    const problems: FieldProblem[] =
      name === '' ? [required(`${at}.name`)] : environmentNameProblems(name).map((text) => invalid(`${at}.name`, name, text));
    if (variable.valueFrom !== undefined) problems.push(...validateSource(variable.valueFrom, variable.value ?? '', `${at}.valueFrom`));
    return problems;
  });
}

export function validateEnvFrom(sources: readonly EnvFromSource[], field: string): readonly FieldProblem[] {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${field}[${index}]`;
    const problems: FieldProblem[] = prefix === '' ? [] : environmentNameProblems(prefix).map((text) => invalid(`${at}.prefix`, prefix, text));
    const given = Object.entries({ configMapRef, secretRef }).flatMap(([name, ref]) => (ref === undefined ? [] : [{ name, ref }]));
    for (const { name, ref } of given) if ((ref.name ?? '') === '') problems.push(required(`${at}.${name}.name`));
    if (given.length === 0) problems.push(invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (given.length > 1) problems.push(invalid(at, '', 'may not have more than one field specified at a time'));
    return problems;
  });
}

/** @param allowed names of fields; labels and annotations by key are allowed beside them */
export function validateFieldRef(ref: ObjectFieldSelector, allowed: readonly string[], field: string): readonly FieldProblem[] {
  const { apiVersion = '', fieldPath = '' } = ref;
  if (apiVersion === '') return [required(`${field}.apiVersion`)];
  if (fieldPath === '') return [required(`${field}.fieldPath`)];
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (keyed !== null) {
    const key = keyed[2] ?? '';
    const problems = qualifiedNameProblems(keyed[1] === 'annotations' ? key.toLowerCase() : key);
    return problems.map((problem) => invalid(field, key, problem));
  }
  return allowed.includes(fieldPath) ? [] : [notSupported(`${field}.fieldPath`, fieldPath, [...allowed].sort())];
}

export function validateResourceRef(ref: ResourceFieldSelector, field: string, isFile: boolean): readonly FieldProblem[] {
  const { containerName = '', resource = '' } = ref;
  if (isFile && containerName === '') return [required(`${field}.containerName`)];
  if (resource === '') return [required(`${field}.resource`)];
  const isKnown = resourceFields.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  return isKnown ? [] : [notSupported(`${field}.resource`, resource, [...resourceFields].sort())];
}

function validateSource(source: EnvVarSource, value: string, field: string): readonly FieldProblem[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((one) => one !== undefined).length;
  const problems: FieldProblem[] = [];
  if (fieldRef !== undefined) problems.push(...validateFieldRef(fieldRef, variableFields, `${field}.fieldRef`));
  if (resourceFieldRef !== undefined) problems.push(...validateResourceRef(resourceFieldRef, `${field}.resourceFieldRef`, false));
  for (const [name, ref] of [
    ['configMapKeyRef', configMapKeyRef],
    ['secretKeyRef', secretKeyRef],
  ] as const) {
    if (ref !== undefined) problems.push(...validateKeyRef(ref.name ?? '', ref.key ?? '', `${field}.${name}`));
  }
  if (count === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    problems.push(invalid(field, '', detail));
  } else if (value !== '') problems.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) problems.push(invalid(field, '', 'may not have more than one field specified at a time'));
  return problems;
}

function validateKeyRef(name: string, key: string, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] =
    name === '' ? [required(`${field}.name`)] : subdomainProblems(name).map((text) => invalid(`${field}.name`, name, text));
  if (key === '') return [...problems, required(`${field}.key`)];
  return [...problems, ...configKeyProblems(key).map((text) => invalid(`${field}.key`, key, text))];
}
