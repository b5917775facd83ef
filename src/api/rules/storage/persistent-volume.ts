import { deepEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { compareQuantities } from '#api/quantity.ts';
import type { PersistentVolume, PersistentVolumeSpec } from '#api/types/core-v1.ts';
import { differencesText, validateImmutable } from '../immutable.ts';
import { validateNodeSelector } from '../pod/affinity.ts';
import { validateAccessModes } from './access-modes.ts';
import { validateClassName } from './names.ts';
import { sourceOf, validateVolumeSource } from './volume-source.ts';

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
export const volumeModes = ['Block', 'Filesystem'];

export function validatePersistentVolume({ spec = {} }: PersistentVolume): readonly FieldProblem[] {
  const field = 'spec';
  return [
    ...validateModes(spec, field),
    ...validateCapacity(spec.capacity ?? {}, `${field}.capacity`),
    ...validatePolicy(spec, field),
    ...validatePlace(spec, field),
    ...validateVolumeSource(spec, field),
    ...validateClasses(spec, field),
  ];
}

/** A volume that has no object of its own: nothing of what concerns claims is said of it. */
export function validateInlineVolume(spec: PersistentVolumeSpec, field: string): readonly FieldProblem[] {
  const inline = 'in the context of inline volumes';
  const absent = (['claimRef', 'capacity', 'nodeAffinity', 'storageClassName'] as const).filter((key) => !isEmpty(spec[key]));
  const { persistentVolumeReclaimPolicy: policy = '', volumeMode = 'Filesystem' } = spec;
  return [
    ...absent.map((key) => forbidden(`${field}.${key}`, `may not be specified ${inline}`)),
    ...(spec.csi === undefined ? [required(`${field}.csi`, `has to be specified ${inline}`)] : []),
    ...validateModes(spec, field),
    ...(policy === '' || policy === 'Retain' ? [] : [forbidden(`${field}.persistentVolumeReclaimPolicy`, `may only be Retain ${inline}`)]),
    ...validateVolumeSource(spec, field),
    ...(volumeMode === 'Filesystem' ? [] : [forbidden(`${field}.volumeMode`, `may not specify volumeMode other than Filesystem ${inline}`)]),
  ];
}

export function validatePersistentVolumeUpdate(next: PersistentVolume, previous: PersistentVolume): readonly FieldProblem[] {
  const after = next.spec ?? {};
  const before = previous.spec ?? {};
  const problems: FieldProblem[] = [];
  const differences = differencesText(sourceWithout(after, before), sourceOf(before), 'spec');
  if (differences !== '') {
    problems.push(forbidden('spec.persistentvolumesource', `spec.persistentvolumesource is immutable after creation\n${differences}`));
  }
  problems.push(...validateImmutable(after.volumeMode, before.volumeMode, 'volumeMode'));
  if (before.nodeAffinity !== undefined) problems.push(...validateImmutable(after.nodeAffinity, before.nodeAffinity, 'nodeAffinity'));
  if (before.volumeAttributesClassName !== undefined && after.volumeAttributesClassName === undefined) {
    problems.push(forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'));
  }
  return problems;
}

/** The secret for growing may still be named later. */
function sourceWithout(next: PersistentVolumeSpec, previous: PersistentVolumeSpec) {
  const source = sourceOf(next);
  if (source.csi?.controllerExpandSecretRef === undefined || previous.csi === undefined) return source;
  if (previous.csi.controllerExpandSecretRef !== undefined) return source;
  const { controllerExpandSecretRef: _, ...csi } = source.csi;
  return { ...source, csi };
}

function validateModes({ accessModes = [] }: PersistentVolumeSpec, field: string): readonly FieldProblem[] {
  const at = `${field}.accessModes`;
  return [...(accessModes.length === 0 ? [required(at)] : []), ...validateAccessModes(accessModes, at)];
}

function validateCapacity(capacity: Readonly<Record<string, string>>, field: string): readonly FieldProblem[] {
  const names = Object.keys(capacity);
  return [
    ...(names.length === 0 ? [required(field)] : []),
    ...(deepEqual(names, ['storage']) ? [] : [notSupported(field, capacity, ['storage'])]),
    ...Object.entries(capacity).flatMap(([name, amount]) => validatePositive(amount, `${field}[${name}]`)),
  ];
}

export function validatePositive(amount: string, field: string): readonly FieldProblem[] {
  return compareQuantities(amount, '0') > 0 ? [] : [invalid(field, amount, 'must be greater than zero')];
}

function validatePolicy({ persistentVolumeReclaimPolicy: policy = '', hostPath }: PersistentVolumeSpec, field: string): readonly FieldProblem[] {
  const at = `${field}.persistentVolumeReclaimPolicy`;
  const isRoot = hostPath !== undefined && /^\/[/.]*$/.test(hostPath.path ?? '');
  return [
    ...(policy === '' || reclaimPolicies.includes(policy) ? [] : [notSupported(at, policy, reclaimPolicies)]),
    ...(isRoot && policy === 'Recycle' ? [forbidden(at, "may not be 'recycle' for a hostPath mount of '/'")] : []),
  ];
}

function validatePlace({ nodeAffinity, local }: PersistentVolumeSpec, field: string): readonly FieldProblem[] {
  const at = `${field}.nodeAffinity`;
  if (nodeAffinity === undefined) return local === undefined ? [] : [required(at, 'Local volume requires node affinity')];
  if (nodeAffinity.required === undefined) return [required(`${at}.required`, 'must specify required node constraints')];
  return validateNodeSelector(nodeAffinity.required, `${at}.required`);
}

function validateClasses(spec: PersistentVolumeSpec, field: string): readonly FieldProblem[] {
  const { storageClassName = '', volumeMode, volumeAttributesClassName: attributes, csi } = spec;
  const problems: FieldProblem[] = storageClassName === '' ? [] : [...validateClassName(storageClassName, `${field}.storageClassName`)];
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) {
    problems.push(notSupported(`${field}.volumeMode`, volumeMode, volumeModes));
  }
  if (attributes === undefined) return problems;
  const at = `${field}.volumeAttributesClassName`;
  if (attributes === '') problems.push(required(at, 'an empty string is disallowed'));
  else problems.push(...validateClassName(attributes, at));
  if (csi === undefined) problems.push(required(`${field}.csi`, 'has to be specified when using volumeAttributesClassName'));
  return problems;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
