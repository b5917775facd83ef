import { type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import { compareQuantities } from '#api/quantity.ts';
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec, HPAScalingPolicy, HPAScalingRules } from '#api/types/autoscaling-v2.ts';
import { validateNonNegatives } from '../workload.ts';
import { validateMetrics } from './metrics.ts';
import { validateReference } from './reference.ts';

const selections = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];
const maxPeriodSeconds = 1800;
const maxWindowSeconds = 3600;

/** @param previous undefined: the object is new. One that could go to none before still can. */
export function validateAutoscaler(object: HorizontalPodAutoscaler, previous: HorizontalPodAutoscaler | undefined): readonly FieldProblem[] {
  const spec: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {};
  const lowest = previous?.spec.minReplicas === 0 ? 0 : 1;
  const { minReplicas, maxReplicas = 0, metrics = [], behavior } = spec;
  const problems: FieldProblem[] = [];
  if (minReplicas !== undefined && minReplicas < lowest) {
    problems.push(invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${lowest}`));
  }
  if (maxReplicas < 1) problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return [
    ...problems,
    ...validateReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef'),
    ...validateMetrics(metrics, minReplicas, 'spec.metrics'),
    ...validateRules(behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateRules(behavior?.scaleDown, 'spec.behavior.scaleDown'),
  ];
}

export function validateAutoscalerStatus({ status }: HorizontalPodAutoscaler): readonly FieldProblem[] {
  return validateNonNegatives({ currentReplicas: status?.currentReplicas, desiredReplicas: status?.desiredReplicas }, 'status');
}

function validateRules(rules: HPAScalingRules | undefined, field: string): readonly FieldProblem[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [], tolerance } = rules;
  const at = `${field}.stabilizationWindowSeconds`;
  const problems: FieldProblem[] = [];
  if (window < 0) problems.push(invalid(at, window, 'must be greater than or equal to zero'));
  if (window > maxWindowSeconds) problems.push(invalid(at, window, `must be less than or equal to ${maxWindowSeconds}`));
  if (selectPolicy !== undefined && !selections.includes(selectPolicy)) {
    problems.push(notSupported(`${field}.selectPolicy`, selectPolicy, selections));
  }
  if (policies.length === 0) problems.push(required(`${field}.policies`, 'must specify at least one Policy'));
  problems.push(...policies.flatMap((policy, index) => validatePolicy(policy, `${field}.policies[${index}]`)));
  if (tolerance !== undefined && compareQuantities(tolerance, '0') < 0) {
    problems.push(invalid(`${field}.tolerance`, tolerance, 'must be greater or equal to zero'));
  }
  return problems;
}

function validatePolicy({ type = '', value = 0, periodSeconds = 0 }: Partial<HPAScalingPolicy>, field: string): readonly FieldProblem[] {
  const at = `${field}.periodSeconds`;
  return [
    ...(policyTypes.includes(type) ? [] : [notSupported(`${field}.type`, type, policyTypes)]),
    ...(value > 0 ? [] : [invalid(`${field}.value`, value, 'must be greater than zero')]),
    ...(periodSeconds > 0 ? [] : [invalid(at, periodSeconds, 'must be greater than zero')]),
    ...(periodSeconds > maxPeriodSeconds ? [invalid(at, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`)] : []),
  ];
}
