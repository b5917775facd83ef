import { type FieldProblem, forbidden, invalid, required, tooLong } from '../field-problem.ts';
import { quote } from '../quote.ts';
import type { ObjectMeta, OwnerReference, TemplateMeta } from '../types/meta-v1.ts';
import { canonicalIpProblems } from './addresses.ts';
import { byteLength } from './checks.ts';
import { labelProblems, labelValueProblems, pathSegmentProblems, qualifiedNameProblems, subdomainProblems, type TextRule } from './names.ts';

export type NameRule = 'subdomain' | 'label' | 'path-segment' | 'ip-address';

const nameRules: Readonly<Record<NameRule, TextRule>> = {
  subdomain: subdomainProblems,
  label: labelProblems,
  'path-segment': pathSegmentProblems,
  'ip-address': canonicalIpProblems,
};
const annotationsMaxBytes = 256 * 1024;
const coreFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion'];
const both = ['orphan', 'foregroundDeletion'];

export function validateMetadata(meta: ObjectMeta, scope: 'Namespaced' | 'Cluster', nameRule: NameRule): readonly FieldProblem[] {
  return [...nameOf(meta, nameRules[nameRule]), ...namespaceOf(meta, scope), ...validateMarks(meta, 'metadata')];
}

/** What a template's metadata may be too: labels and annotations. */
export function validateTemplateMetadata(meta: TemplateMeta, field: string): readonly FieldProblem[] {
  return [...validateLabels(meta.labels, `${field}.labels`), ...validateAnnotations(meta.annotations, `${field}.annotations`)];
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): readonly FieldProblem[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalid(field, key, problem)),
    ...labelValueProblems(value).map((problem) => invalid(field, value, problem)),
  ]);
}

export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, field: string): readonly FieldProblem[] {
  const entries = Object.entries(annotations ?? {});
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  const problems = entries.flatMap(([key]) => qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid(field, key, problem)));
  return bytes > annotationsMaxBytes ? [...problems, tooLong(field, annotationsMaxBytes)] : problems;
}

export function validateMetadataUpdate(next: ObjectMeta, previous: ObjectMeta): readonly FieldProblem[] {
  const fixed = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
  const problems = fixed.filter((key) => next[key] !== previous[key]).map((key) => invalid(`metadata.${key}`, next[key], 'field is immutable'));
  if ((next.generation ?? 0) < (previous.generation ?? 0)) {
    problems.push(invalid('metadata.generation', next.generation, 'must not be decremented'));
  }
  return [...problems, ...newFinalizers(next, previous), ...validateMarks(next, 'metadata')];
}

function nameOf(meta: ObjectMeta, rule: TextRule): readonly FieldProblem[] {
  const { name, generateName = '' } = meta;
  // A dash at its end is not the end of the name that is made from it.
  const prefix = generateName.replace(/-$/, 'a');
  const problems = generateName === '' ? [] : rule(prefix).map((problem) => invalid('metadata.generateName', generateName, problem));
  if (name === undefined || name === '') return [...problems, required('metadata.name', 'name or generateName is required')];
  return [...problems, ...rule(name).map((problem) => invalid('metadata.name', name, problem))];
}

function namespaceOf({ namespace = '' }: ObjectMeta, scope: 'Namespaced' | 'Cluster'): readonly FieldProblem[] {
  const field = 'metadata.namespace';
  if (scope === 'Cluster') return namespace === '' ? [] : [forbidden(field, 'not allowed on this type')];
  if (namespace === '') return [required(field)];
  return labelProblems(namespace).map((problem) => invalid(field, namespace, problem));
}

function validateMarks(meta: ObjectMeta, field: string): readonly FieldProblem[] {
  return [
    ...validateTemplateMetadata(meta, field),
    ...validateOwners(meta.ownerReferences ?? [], `${field}.ownerReferences`),
    ...validateFinalizers(meta.finalizers ?? [], `${field}.finalizers`),
  ];
}

function validateOwners(owners: readonly OwnerReference[], field: string): readonly FieldProblem[] {
  const problems = owners.flatMap((owner) => {
    const { group, version } = splitApiVersion(owner.apiVersion);
    const own: FieldProblem[] = [];
    if (version === '') own.push(invalid(`${field}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    for (const key of ['kind', 'name', 'uid'] as const) {
      if (owner[key] === '' || owner[key] === undefined) own.push(invalid(`${field}.${key}`, owner[key] ?? '', 'must not be empty'));
    }
    if (group === '' && version === 'v1' && owner.kind === 'Event') {
      own.push(invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    return own;
  });
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first === undefined || second === undefined) return problems;
  const names = `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${names}`;
  return [...problems, invalid(field, owners, detail)];
}

function validateFinalizers(finalizers: readonly string[], field: string): readonly FieldProblem[] {
  const problems = finalizers.flatMap((name) => {
    const bad = qualifiedNameProblems(name).map((problem) => invalid(field, name, problem));
    if (bad.length > 0 || name.includes('/') || coreFinalizers.includes(name)) return bad;
    return [invalid(field, name, 'name is neither a standard finalizer name nor is it fully qualified')];
  });
  if (!both.every((name) => finalizers.includes(name))) return problems;
  return [...problems, invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')];
}

function newFinalizers(next: ObjectMeta, previous: ObjectMeta): readonly FieldProblem[] {
  if (previous.deletionTimestamp === undefined) return [];
  const added = (next.finalizers ?? []).filter((name) => !(previous.finalizers ?? []).includes(name));
  if (added.length === 0) return [];
  const list = `[]string{${added.map(quote).join(', ')}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbidden('metadata.finalizers', detail)];
}

function splitApiVersion(apiVersion = ''): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
