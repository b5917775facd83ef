import { duplicate, type FieldProblem, invalid, invalidWhole, notSupported, required, tooMany } from '#api/field-problem.ts';
import { quote } from '#api/quote.ts';
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from '#api/types/batch-v1.ts';
import { qualifiedNameProblems } from '../names.ts';

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];
const maxRules = 20;
const maxPatterns = 20;
const maxExitCodes = 255;

/** What a job makes of pods that fail. */
export function validateFailurePolicy(spec: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const { rules = [] } = spec.podFailurePolicy ?? {};
  const pod = spec.template?.spec;
  const names = [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map(({ name }) => name);
  return [
    ...(rules.length > maxRules ? [tooMany(`${field}.rules`, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, spec.backoffLimitPerIndex !== undefined, names, `${field}.rules[${index}]`)),
  ];
}

function validateRule(rule: PodFailurePolicyRule, hasIndexLimit: boolean, names: readonly string[], field: string): readonly FieldProblem[] {
  const { action = '', onExitCodes, onPodConditions = [] } = rule;
  const problems = [...validateOne(action, actions, `${field}.action`)];
  if (action === 'FailIndex' && !hasIndexLimit) problems.push(invalid(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  if (onExitCodes !== undefined) problems.push(...validateExitCodes(onExitCodes, names, `${field}.onExitCodes`));
  problems.push(...validatePatterns(onPodConditions, `${field}.onPodConditions`));
  const hasPatterns = onPodConditions.length > 0;
  if (onExitCodes !== undefined && hasPatterns) {
    problems.push(invalidWhole(field, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (onExitCodes === undefined && !hasPatterns) {
    problems.push(invalidWhole(field, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return problems;
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], field: string): readonly FieldProblem[] {
  return [
    ...(patterns.length > maxPatterns ? [tooMany(field, patterns.length, maxPatterns)] : []),
    ...patterns.flatMap(({ type = '', status = '' }, index) => [
      ...qualifiedNameProblems(type).map((problem) => invalid(`${field}[${index}].type`, type, problem)),
      ...validateOne(status, statuses, `${field}[${index}].status`),
    ]),
  ];
}

function validateExitCodes(codes: PodFailurePolicyOnExitCodesRequirement, names: readonly string[], field: string): readonly FieldProblem[] {
  const { operator = '', containerName, values = [] } = codes;
  const problems = [...validateOne(operator, operators, `${field}.operator`)];
  if (containerName !== undefined && !names.includes(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    problems.push(invalid(`${field}.containerName`, containerName, detail));
  }
  if (values.length === 0) problems.push(invalid(`${field}.values`, values, 'at least one value is required'));
  else if (values.length > maxExitCodes) problems.push(tooMany(`${field}.values`, values.length, maxExitCodes));
  for (const [index, value] of values.entries()) {
    const at = `${field}.values[${index}]`;
    if (operator === 'In' && value === 0) problems.push(invalid(at, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < index) problems.push(duplicate(at, value));
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
  return isOrdered ? problems : [...problems, invalid(`${field}.values`, values, 'must be ordered')];
}

/** One of a closed set; who leaves it out is told what there is. */
function validateOne(value: string, allowed: readonly string[], field: string): readonly FieldProblem[] {
  if (value === '') return [required(field, `valid values: [${allowed.map(quote).join(' ')}]`)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}
