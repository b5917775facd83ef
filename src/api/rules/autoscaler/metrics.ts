import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { compareQuantities } from '#api/quantity.ts';
import type { MetricIdentifier, MetricSpec, MetricTarget } from '#api/types/autoscaling-v2.ts';
import { pathSegmentProblems } from '../names.ts';
import { validateReference } from './reference.ts';

/** The field of each type, in the order in which they are looked at. */
const sources = { Object: 'object', External: 'external', Pods: 'pods', Resource: 'resource', ContainerResource: 'containerResource' } as const;
const types = Object.keys(sources).sort();

export function validateMetrics(metrics: readonly MetricSpec[], minReplicas: number | undefined, field: string): readonly FieldProblem[] {
  const problems = metrics.flatMap((metric, index) => validateMetric(metric, `${field}[${index}]`));
  const isCountable = metrics.some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas !== 0 || isCountable) return problems;
  return [...problems, forbidden(field, 'must specify at least one Object or External metric to support scaling to zero replicas')];
}

function validateMetric(metric: MetricSpec, field: string): readonly FieldProblem[] {
  const { type = '' } = metric;
  const expected = Object.entries(sources).find(([name]) => name === type)?.[1];
  const present = Object.values(sources).filter((key) => metric[key] !== undefined);
  const [first] = present;
  const problems: FieldProblem[] = [];
  if (type === '') problems.push(required(`${field}.type`, 'must specify a metric source type'));
  if (expected === undefined) problems.push(notSupported(`${field}.type`, type, types));
  if (first !== undefined) problems.push(...validateSource(metric, first, `${field}.${first}`));
  if (expected === undefined) return problems;
  if (metric[expected] === undefined) problems.push(required(`${field}.${expected}`, 'must populate information for the given metric source'));
  if (present.length === 1) return problems;
  const others = present.filter((key) => key !== expected);
  return [...problems, ...others.map((key) => forbidden(`${field}.${key}`, 'must populate the given metric source only'))];
}

function validateSource(metric: MetricSpec, key: (typeof sources)[keyof typeof sources], field: string): readonly FieldProblem[] {
  const { object, external, pods, resource, containerResource } = metric;
  switch (key) {
    case 'object':
      return object === undefined
        ? []
        : [
            ...validateReference(object.describedObject ?? {}, `${field}.describedObject`),
            ...validateIdentifier(object.metric ?? {}, `${field}.metric`),
            ...validateTarget(object.target ?? {}, `${field}.target`),
            ...needsValue(object.target ?? {}, 'must set either a target value or averageValue', `${field}.target`),
          ];
    case 'external':
      return external === undefined ? [] : validateExternal(external.metric ?? {}, external.target ?? {}, field);
    case 'pods':
      return pods === undefined
        ? []
        : [
            ...validateIdentifier(pods.metric ?? {}, `${field}.metric`),
            ...validateTarget(pods.target ?? {}, `${field}.target`),
            ...(pods.target?.averageValue === undefined
              ? [required(`${field}.target.averageValue`, 'must specify a positive target averageValue')]
              : []),
          ];
    case 'resource':
      return resource === undefined ? [] : validateResource(resource.name, resource.target ?? {}, field);
    case 'containerResource':
      return containerResource === undefined
        ? []
        : [
            ...((containerResource.container ?? '') === '' ? [required(`${field}.container`, 'must specify a container')] : []),
            ...validateResource(containerResource.name, containerResource.target ?? {}, field),
          ];
  }
}

function validateExternal(metric: Partial<MetricIdentifier>, target: Partial<MetricTarget>, field: string): readonly FieldProblem[] {
  const hasBoth = target.value !== undefined && target.averageValue !== undefined;
  return [
    ...validateIdentifier(metric, `${field}.metric`),
    ...validateTarget(target, `${field}.target`),
    ...needsValue(target, 'must set either a target value for metric or a per-pod target', `${field}.target`),
    ...(hasBoth ? [forbidden(`${field}.target.value`, 'may not set both a target value for metric and a per-pod target')] : []),
  ];
}

function validateResource(name = '', target: Partial<MetricTarget>, field: string): readonly FieldProblem[] {
  const at = `${field}.target`;
  const { averageUtilization, averageValue } = target;
  const problems: FieldProblem[] = name === '' ? [required(`${field}.name`, 'must specify a resource name')] : [];
  problems.push(...validateTarget(target, at));
  if (averageUtilization === undefined && averageValue === undefined) {
    problems.push(required(`${at}.averageUtilization`, 'must set either a target raw value or a target utilization'));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    problems.push(forbidden(`${at}.averageValue`, 'may not set both a target raw value and a target utilization'));
  }
  return problems;
}

function needsValue({ value, averageValue }: Partial<MetricTarget>, detail: string, field: string): readonly FieldProblem[] {
  return value === undefined && averageValue === undefined ? [required(`${field}.averageValue`, detail)] : [];
}

function validateTarget(target: Partial<MetricTarget>, field: string): readonly FieldProblem[] {
  const { type = '', value, averageValue, averageUtilization } = target;
  const problems: FieldProblem[] = [];
  if (type === '') problems.push(required(`${field}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    problems.push(invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [key, amount] of Object.entries({ value, averageValue })) {
    if (amount !== undefined && compareQuantities(amount, '0') <= 0) problems.push(invalid(`${field}.${key}`, amount, 'must be positive'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    problems.push(invalid(`${field}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  }
  return problems;
}

function validateIdentifier({ name = '' }: Partial<MetricIdentifier>, field: string): readonly FieldProblem[] {
  if (name === '') return [required(`${field}.name`, 'must specify a metric name')];
  return pathSegmentProblems(name).map((problem) => invalid(`${field}.name`, name, problem));
}
