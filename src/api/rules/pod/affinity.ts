import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '#api/types/core-v1.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { labelProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';

export function validateAffinity({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, field: string): readonly FieldProblem[] {
  return [
    ...(nodeAffinity === undefined ? [] : validateNodeAffinity(nodeAffinity, `${field}.nodeAffinity`)),
    ...(podAffinity === undefined ? [] : validatePodAffinity(podAffinity, `${field}.podAffinity`)),
    ...(podAntiAffinity === undefined ? [] : validatePodAffinity(podAntiAffinity, `${field}.podAntiAffinity`)),
  ];
}

function validateNodeAffinity(affinity: NodeAffinity, field: string): readonly FieldProblem[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = affinity;
  const problems: FieldProblem[] = [];
  if (needed !== undefined) problems.push(...validateNodeSelector(needed, `${field}.requiredDuringSchedulingIgnoredDuringExecution`));
  for (const [index, { weight, preference }] of preferred.entries()) {
    const at = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    problems.push(...validateWeight(weight, `${at}.weight`), ...validateTerm(preference ?? {}, `${at}.preference`));
  }
  return problems;
}

/** Which nodes something needs: a pod, or a volume. */
export function validateNodeSelector({ nodeSelectorTerms: terms = [] }: NodeSelector, field: string): readonly FieldProblem[] {
  const at = `${field}.nodeSelectorTerms`;
  return [
    ...(terms.length === 0 ? [required(at, 'must have at least one node selector term')] : []),
    ...terms.flatMap((term, index) => validateTerm(term, `${at}[${index}]`)),
  ];
}

function validateTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, field: string): readonly FieldProblem[] {
  return [
    ...matchExpressions.flatMap((requirement, index) => validateRequirement(requirement, `${field}.matchExpressions[${index}]`)),
    ...matchFields.flatMap((requirement, index) => validateFieldRequirement(requirement, `${field}.matchFields[${index}]`)),
  ];
}

function validateRequirement({ key = '', operator = '', values = [] }: NodeSelectorRequirement, field: string): readonly FieldProblem[] {
  const problems = validateOperator(operator, values, field).slice();
  return [...problems, ...qualifiedNameProblems(key).map((text) => invalid(`${field}.key`, key, text))];
}

function validateOperator(operator: string, values: readonly string[], field: string): readonly FieldProblem[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length === 0 ? [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")] : [];
    case 'Exists':
    case 'DoesNotExist':
      return values.length > 0
        ? [{ type: 'Forbidden', field: `${field}.values`, detail: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'" }]
        : [];
    case 'Gt':
    case 'Lt':
      return values.length === 1 ? [] : [required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

function validateFieldRequirement({ key = '', operator = '', values = [] }: NodeSelectorRequirement, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (operator !== 'In' && operator !== 'NotIn') problems.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1)
    problems.push(required(`${field}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  if (key !== 'metadata.name') return [...problems, invalid(`${field}.key`, key, 'not a valid field selector key')];
  return [...problems, ...values.flatMap((name, index) => subdomainProblems(name).map((text) => invalid(`${field}.values[${index}]`, name, text)))];
}

function validatePodAffinity(affinity: PodAffinity, field: string): readonly FieldProblem[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed = [], preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = affinity;
  return [
    ...needed.flatMap((term, index) => validatePodTerm(term, `${field}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`)),
    ...preferred.flatMap(({ weight, podAffinityTerm }, index) => {
      const at = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      const term = podAffinityTerm ?? { topologyKey: '' };
      return [...validateWeight(weight, `${at}.weight`), ...validatePodTerm(term, `${at}.podAffinityTerm`)];
    }),
  ];
}

function validatePodTerm(term: PodAffinityTerm, field: string): readonly FieldProblem[] {
  const { topologyKey = '', namespaces = [], labelSelector, namespaceSelector } = term;
  return [
    ...(labelSelector === undefined ? [] : validateLabelSelector(labelSelector, `${field}.labelSelector`)),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...namespaces.flatMap((name) => labelProblems(name).map((text) => invalid(`${field}.namespace`, name, text))),
    ...(topologyKey === ''
      ? [required(`${field}.topologyKey`, 'can not be empty')]
      : qualifiedNameProblems(topologyKey).map((text) => invalid(`${field}.topologyKey`, topologyKey, text))),
  ];
}

function validateWeight(weight: number | undefined, field: string): readonly FieldProblem[] {
  return weight !== undefined && weight >= 1 && weight <= 100 ? [] : [invalid(field, weight ?? 0, 'must be in the range 1-100')];
}
