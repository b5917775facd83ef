import { type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '#api/types/apiextensions-v1.ts';
import { validateImmutable } from '../immutable.ts';
import { dns1035LabelProblems, subdomainProblems } from '../names.ts';
import { validateConversion } from './conversion.ts';
import { validateVersions } from './versions.ts';

const scopes = ['Cluster', 'Namespaced'];
const approval = 'api-approved.kubernetes.io';
const approvalText = `protected groups must have approval annotation "${approval}"`;
const approvalSource = 'see https://github.com/kubernetes/enhancements/pull/1111';

export function validateDefinition(definition: CustomResourceDefinition): readonly FieldProblem[] {
  const { metadata, spec, status } = definition;
  const group = spec?.group ?? '';
  const names: Partial<CustomResourceDefinitionNames> = spec?.names ?? {};
  const isNamed = metadata.name === `${names.plural ?? ''}.${group}`;
  return [
    ...(isNamed ? [] : [invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...validateGroup(group, 'spec.group'),
    ...validateScope(spec?.scope ?? '', 'spec.scope'),
    ...validateVersions(spec?.versions ?? [], 'spec'),
    ...(['plural', 'singular', 'kind', 'listKind'] as const).flatMap((key) => ((names[key] ?? '') === '' ? [required(`spec.names.${key}`)] : [])),
    ...validateNames(names, 'spec.names'),
    ...validateConversion(spec?.conversion, 'spec.conversion'),
    ...validateStoredVersions(status?.storedVersions ?? [], spec?.versions ?? [], 'status.storedVersions'),
    ...validateApproval(metadata.annotations ?? {}, group, `metadata.annotations[${approval}]`),
    ...validatePreserving(spec),
  ];
}

/** What makes the name never changes; what clients rely on no longer when the resource is served. */
export function validateDefinitionUpdate(next: CustomResourceDefinition, previous: CustomResourceDefinition): readonly FieldProblem[] {
  const isEstablished = (previous.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
  const { spec: after } = next;
  const { spec: before } = previous;
  return [
    ...(isEstablished
      ? [...validateImmutable(after.scope, before.scope, 'spec.scope'), ...validateImmutable(after.names.kind, before.names.kind, 'spec.names.kind')]
      : []),
    ...validateImmutable(after.group, before.group, 'spec.group'),
    ...validateImmutable(after.names.plural, before.names.plural, 'spec.names.plural'),
  ];
}

export function validateDefinitionStatus({ spec, status }: CustomResourceDefinition): readonly FieldProblem[] {
  return [
    ...validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames'),
    ...validateStoredVersions(status?.storedVersions ?? [], spec.versions, 'status.storedVersions'),
  ];
}

function validateGroup(group: string, field: string): readonly FieldProblem[] {
  if (group === '') return [required(field)];
  const problems = subdomainProblems(group);
  if (problems.length > 0) return [invalid(field, group, problems.join(','))];
  return group.includes('.') ? [] : [invalid(field, group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string, field: string): readonly FieldProblem[] {
  if (scope === '') return [required(field)];
  return scopes.includes(scope) ? [] : [notSupported(field, scope, scopes)];
}

function validateNames(names: Partial<CustomResourceDefinitionNames>, field: string): readonly FieldProblem[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  return [
    ...validateLabel(plural, `${field}.plural`),
    ...validateLabel(singular, `${field}.singular`),
    ...validateKindName(kind, `${field}.kind`),
    ...shortNames.flatMap((name, index) => validateLabel(name, `${field}.shortNames[${index}]`)),
    ...validateKindName(listKind, `${field}.listKind`),
    ...(kind !== '' && kind === listKind ? [invalid(`${field}.listKind`, listKind, 'kind and listKind may not be the same')] : []),
    ...categories.flatMap((name, index) => validateLabel(name, `${field}.categories[${index}]`)),
  ];
}

function validateLabel(name: string, field: string): readonly FieldProblem[] {
  const problems = name === '' ? [] : dns1035LabelProblems(name);
  return problems.length === 0 ? [] : [invalid(field, name, problems.join(','))];
}

function validateKindName(kind: string, field: string): readonly FieldProblem[] {
  const problems = kind === '' ? [] : dns1035LabelProblems(kind.toLowerCase());
  return problems.length === 0 ? [] : [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

/** Objects may still be stored in every one of them. */
function validateStoredVersions(
  stored: readonly string[],
  versions: readonly CustomResourceDefinitionVersion[],
  field: string,
): readonly FieldProblem[] {
  if (stored.length === 0) return [invalid(field, stored, 'must have at least one stored version')];
  const names = versions.map(({ name }) => name);
  const removed = (version: string) =>
    `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ` +
    `ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
  return [
    ...versions
      .filter(({ name, storage }) => storage && !stored.includes(name))
      .map((version) => invalid(field, version, `must have the storage version ${version.name}`)),
    ...stored.flatMap((version, index) => (names.includes(version) ? [] : [invalid(`${field}[${index}]`, version, removed(version))])),
  ];
}

/** Groups of Kubernetes itself are for what its people have looked at. */
function validateApproval(annotations: Readonly<Record<string, string>>, group: string, field: string): readonly FieldProblem[] {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const text = annotations[approval] ?? '';
  if (text === '') return [required(field, `${approvalText}, ${approvalSource}`)];
  if (text.startsWith('unapproved') || URL.canParse(text)) return [];
  return [invalid(field, text, `${approvalText} with either a URL or a reason starting with "unapproved", ${approvalSource}`)];
}

function validatePreserving(spec: CustomResourceDefinitionSpec | undefined): readonly FieldProblem[] {
  if (spec?.preserveUnknownFields !== true) return [];
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, detail)];
}
