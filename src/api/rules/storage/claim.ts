import { deepEqual, semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { compareQuantities, parseQuantity } from '#api/quantity.ts';
import { betaClassAnnotation } from '#api/storage/class-of.ts';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
} from '#api/types/core-v1.ts';
import { differencesText, validateImmutable } from '../immutable.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { validateTemplateMetadata } from '../metadata.ts';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import { validateAccessModes } from './access-modes.ts';
import { validateClassName } from './names.ts';
import { validatePositive, volumeModes } from './persistent-volume.ts';

export function validateClaim({ spec = {} }: PersistentVolumeClaim): readonly FieldProblem[] {
  return validateClaimSpec(spec, 'spec');
}

/** A claim as part of another object: of a pod's volume, of a StatefulSet. */
export function validateClaimTemplate({ metadata, spec }: PersistentVolumeClaimTemplate, field: string): readonly FieldProblem[] {
  return [...validateTemplateMetadata(metadata ?? {}, `${field}.metadata`), ...validateClaimSpec(spec ?? {}, `${field}.spec`)];
}

export function validateClaimSpec(spec: PersistentVolumeClaimSpec, field: string): readonly FieldProblem[] {
  const { accessModes = [], selector, storageClassName = '', volumeMode, volumeAttributesClassName: attributes = '' } = spec;
  return [
    ...(accessModes.length === 0 ? [required(`${field}.accessModes`, 'at least 1 access mode is required')] : []),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${field}.selector`)),
    ...validateAccessModes(accessModes, `${field}.accessModes`),
    ...validateRequest(spec.resources?.requests?.['storage'], `${field}.resources[storage]`),
    ...(storageClassName === '' ? [] : validateClassName(storageClassName, `${field}.storageClassName`)),
    ...(volumeMode === undefined || volumeModes.includes(volumeMode) ? [] : [notSupported(`${field}.volumeMode`, volumeMode, volumeModes)]),
    ...validateDataSources(spec, field),
    ...(attributes === '' ? [] : validateClassName(attributes, `${field}.volumeAttributesClassName`)),
  ];
}

function validateRequest(amount: string | undefined, field: string): readonly FieldProblem[] {
  return amount === undefined ? [required(field)] : validatePositive(amount, field);
}

function validateDataSources(spec: PersistentVolumeClaimSpec, field: string): readonly FieldProblem[] {
  const { dataSource, dataSourceRef } = spec;
  const namespace = dataSourceRef?.namespace ?? '';
  const problems: FieldProblem[] = [];
  if (dataSource !== undefined) problems.push(...validateDataSource(dataSource, `${field}.dataSource`));
  if (dataSourceRef !== undefined) {
    const at = `${field}.dataSourceRef`;
    problems.push(...validateDataSource(dataSourceRef, at));
    if (namespace !== '') problems.push(...labelProblems(namespace).map((text) => invalid(`${at}.namespace`, namespace, text)));
  }
  if (dataSource === undefined || dataSourceRef === undefined) return problems;
  if (namespace !== '') problems.push(invalid(field, `${field}.dataSource`, 'may not be specified when dataSourceRef.namespace is specified'));
  else if (!deepEqual(reference(dataSource), reference(dataSourceRef))) {
    problems.push(invalid(field, `${field}.dataSource`, 'must match dataSourceRef'));
  }
  return problems;
}

function reference({ apiGroup, kind, name }: TypedLocalObjectReference) {
  return { apiGroup, kind, name };
}

function validateDataSource({ apiGroup = '', kind = '', name = '' }: Partial<TypedLocalObjectReference>, field: string): readonly FieldProblem[] {
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(kind === '' ? [required(`${field}.kind`)] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(field, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...(apiGroup === '' ? [] : subdomainProblems(apiGroup).map((text) => invalid(`${field}.apiGroup`, apiGroup, text))),
  ];
}

/** Claims stay as they are, so that quotas cannot be gamed; only what is bound may grow. */
export function validateClaimUpdate(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): readonly FieldProblem[] {
  const { spec: after = {} } = next;
  const { spec: before = {} } = previous;
  const problems: FieldProblem[] = [];
  if (!mayNameClass(next, previous)) problems.push(...validateBetaAnnotation(next, previous));
  const masked = withChangeable(next, previous);
  if (!semanticEqual(masked, before)) {
    const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    problems.push(forbidden('spec', `${detail}\n${differencesText(masked, before, 'spec')}`));
  }
  problems.push(...validateShrinking(next, previous), ...validateImmutable(after.volumeMode, before.volumeMode, 'volumeMode'));
  if (before.volumeAttributesClassName === undefined) return problems;
  const at = 'spec.volumeAttributesClassName';
  if (after.volumeAttributesClassName === undefined) problems.push(forbidden(at, 'update from non-nil value to nil is forbidden'));
  else if (after.volumeAttributesClassName === '') problems.push(forbidden(at, 'update from non-nil value to an empty string is forbidden'));
  return problems;
}

/** The new spec with what may change as it was. */
function withChangeable(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const { spec: after = {} } = next;
  const { spec: before = {} } = previous;
  let masked: PersistentVolumeClaimSpec = after;
  if ((before.volumeName ?? '') === '') masked = { ...masked, volumeName: before.volumeName };
  if (mayNameClass(next, previous)) masked = { ...masked, storageClassName: before.storageClassName };
  if (next.status?.phase !== 'Bound') return masked;
  if (masked.resources?.requests !== undefined) {
    const { storage: _, ...others } = masked.resources.requests;
    const storage = before.resources?.requests?.['storage'];
    masked = { ...masked, resources: { ...masked.resources, requests: storage === undefined ? others : { ...others, storage } } };
  }
  if (masked.volumeAttributesClassName === undefined) return masked;
  return { ...masked, volumeAttributesClassName: before.volumeAttributesClassName };
}

/** A claim without a class may get one later; one with the annotation of old only the same. */
function mayNameClass({ spec, metadata }: PersistentVolumeClaim, previous: PersistentVolumeClaim): boolean {
  const named = spec?.storageClassName;
  const old = previous.metadata.annotations?.[betaClassAnnotation];
  const annotated = metadata.annotations?.[betaClassAnnotation];
  if (named === undefined || previous.spec?.storageClassName !== undefined) return false;
  return old === undefined || (named === old && (annotated === undefined || annotated === old));
}

function validateBetaAnnotation(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): readonly FieldProblem[] {
  const after = next.metadata.annotations?.[betaClassAnnotation] ?? '';
  if (after === (previous.metadata.annotations?.[betaClassAnnotation] ?? '')) return [];
  return [invalid(`metadata.annotations.${betaClassAnnotation}`, after, 'field is immutable')];
}

/** A claim may take back what it asked for in vain, down to more than what it has. */
function validateShrinking(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): readonly FieldProblem[] {
  const after = next.spec?.resources?.requests?.['storage'] ?? '0';
  const isSmaller = compareQuantities(after, previous.spec?.resources?.requests?.['storage'] ?? '0') < 0;
  if (!isSmaller || compareQuantities(after, previous.status?.capacity?.['storage'] ?? '0') > 0) return [];
  return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

export function validateClaimStatusUpdate({ status = {} }: PersistentVolumeClaim): readonly FieldProblem[] {
  const { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} } = status;
  const states = 'status.allocatedResourceStatus';
  return [
    ...Object.entries(capacity).flatMap(([name, amount]) => validateAmount(amount, `status.capacity[${name}]`)),
    ...Object.entries(allocatedResourceStatuses).flatMap(([name, state]) => [
      ...validateResourceKey(name, states),
      ...(resizeStates.includes(state) ? [] : [notSupported(states, name, resizeStates)]),
    ]),
    ...Object.entries(allocatedResources).flatMap(([name, amount]) => {
      const problems = validateResourceKey(name, 'status.allocatedResources');
      return problems.length > 0 ? problems : validateAmount(amount, `status.allocatedResources[${name}]`);
    }),
  ];
}

function validateAmount(amount: string, field: string): readonly FieldProblem[] {
  const value = parseQuantity(amount).nanos;
  return value < 0n ? [invalid(field, Number(value / 1_000_000_000n), 'must be a valid resource quantity')] : [];
}

function validateResourceKey(name: string, field: string): readonly FieldProblem[] {
  const problems = qualifiedNameProblems(name).map((text) => invalid(field, name, text));
  const isNative = !name.includes('/') || name.startsWith('kubernetes.io/');
  return problems.length > 0 || !isNative || name === 'storage' ? problems : [notSupported(field, name, ['storage'])];
}
