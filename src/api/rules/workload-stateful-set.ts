import { semanticEqual } from '../deep-equal.ts';
import { type FieldProblem, forbidden, invalid, notSupported, required } from '../field-problem.ts';
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from '../types/apps-v1.ts';
import type { PodTemplateSpec, Volume } from '../types/core-v1.ts';
import { labelProblems } from './names.ts';
import { validateLastingPods, validatePodTemplate } from './pod-template.ts';
import { validateClaimTemplate } from './storage/claim.ts';
import {
  isNone,
  validateAtMostAll,
  validateIntOrPercent,
  validateNonNegative,
  validateNonNegatives,
  validateOwnSelector,
  validateSelected,
} from './workload.ts';

const retentions = ['Retain', 'Delete'];

export function validateCreatedStatefulSet(object: StatefulSet): readonly FieldProblem[] {
  const spec: Partial<StatefulSetSpec> = object.spec ?? {};
  const claims = (spec.volumeClaimTemplates ?? []).flatMap(({ metadata, spec: claim = {} }, index) =>
    validateClaimTemplate({ metadata, spec: claim }, `spec.volumeClaimTemplates[${index}]`),
  );
  return [...validateSpec(spec, { withTemplate: true }), ...validateServiceName(spec), ...claims];
}

/** A set from before a rule was there may still be changed: what was wrong in it stays. */
export function validateStatefulSetUpdate(next: StatefulSet, previous: StatefulSet): readonly FieldProblem[] {
  const spec = next.spec ?? {};
  const before = previous.spec ?? {};
  const wasValid = validateSpec(before, { withTemplate: true }).length === 0;
  return [...validateSpec(spec, { withTemplate: wasValid }), ...validateFixed(spec, before)];
}

function validateFixed(next: Partial<StatefulSetSpec>, previous: Partial<StatefulSetSpec>): readonly FieldProblem[] {
  const { replicas, ordinals, template, updateStrategy, revisionHistoryLimit, persistentVolumeClaimRetentionPolicy, minReadySeconds } = previous;
  const changeable = { replicas, ordinals, template, updateStrategy, revisionHistoryLimit, persistentVolumeClaimRetentionPolicy, minReadySeconds };
  if (semanticEqual({ ...next, ...changeable }, previous)) return [];
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden('spec', detail)];
}

function validateSpec(spec: Partial<StatefulSetSpec>, { withTemplate }: { readonly withTemplate: boolean }): readonly FieldProblem[] {
  const field = 'spec';
  const { podManagementPolicy: management = '', persistentVolumeClaimRetentionPolicy: retention = {}, replicas, minReadySeconds } = spec;
  const at = `${field}.podManagementPolicy`;
  const isKnown = ['OrderedReady', 'Parallel'].includes(management);
  return [
    ...(isKnown ? [] : [management === '' ? required(at) : invalid(at, management, "must be 'OrderedReady' or 'Parallel'")]),
    ...validateStrategy(spec.updateStrategy ?? {}, `${field}.updateStrategy`),
    ...(['whenDeleted', 'whenScaled'] as const).flatMap((key) =>
      retentions.includes(retention[key] ?? '')
        ? []
        : [notSupported(`${field}.persistentVolumeClaimRetentionPolicy.${key}`, retention[key] ?? '', retentions)],
    ),
    ...validateNonNegatives({ replicas, minReadySeconds }, field),
    ...validateNonNegative(spec.ordinals?.start, `${field}.ordinals.start`),
    ...validateOwnSelector(spec.selector, 'statefulset', `${field}.selector`),
    ...validateSelected(spec.selector, spec.template, `${field}.template`),
    ...(withTemplate ? validateTemplate(spec, `${field}.template`) : []),
    ...validateLastingPods(spec.template, 'StatefulSet', `${field}.template`),
  ];
}

function validateServiceName({ serviceName = '' }: Partial<StatefulSetSpec>): readonly FieldProblem[] {
  return serviceName === '' ? [] : labelProblems(serviceName).map((problem) => invalid('spec.serviceName', serviceName, problem));
}

/** With the volumes that the claims become. */
function validateTemplate({ template, volumeClaimTemplates = [] }: Partial<StatefulSetSpec>, field: string): readonly FieldProblem[] {
  const claimed = volumeClaimTemplates.map(({ metadata }): Volume => {
    const { name } = metadata;
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const others = (template?.spec?.volumes ?? []).filter(({ name }) => !claimed.some((volume) => volume.name === name));
  const full: PodTemplateSpec = { ...template, spec: { containers: [], ...template?.spec, volumes: [...others, ...claimed] } };
  return validatePodTemplate(full, field);
}

function validateStrategy(strategy: StatefulSetUpdateStrategy, field: string): readonly FieldProblem[] {
  const { type = '', rollingUpdate } = strategy;
  const at = `${field}.rollingUpdate`;
  switch (type) {
    case '':
      return [required(field)];
    case 'OnDelete':
      return rollingUpdate === undefined ? [] : [invalid(at, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate': {
      const { partition, maxUnavailable } = rollingUpdate ?? {};
      const problems = validateNonNegative(partition, `${at}.partition`);
      if (maxUnavailable === undefined) return problems;
      return [
        ...problems,
        ...validateIntOrPercent(maxUnavailable, `${at}.maxUnavailable`),
        ...(isNone(maxUnavailable) ? [invalid(`${at}.maxUnavailable`, maxUnavailable, 'cannot be 0')] : []),
        ...validateAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
      ];
    }
    default:
      // Upstream prints its own form of the strategy.
      return [invalid(field, { Type: type, RollingUpdate: rollingUpdate ?? null }, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}
