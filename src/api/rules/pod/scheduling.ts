import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { PodSpec, Toleration, TopologySpreadConstraint } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { validateLabels } from '../metadata.ts';
import { labelValueProblems, qualifiedNameProblems } from '../names.ts';
import { validateAffinity } from './affinity.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** What decides where a pod may run. */
export function validateScheduling(spec: PodSpec, field: string): readonly FieldProblem[] {
  return [
    ...validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...(spec.affinity === undefined ? [] : validateAffinity(spec.affinity, `${field}.affinity`)),
    ...validateSpread(spec.topologySpreadConstraints ?? [], `${field}.topologySpreadConstraints`),
    ...validateGates(spec, field),
  ];
}

export function validateTolerations(tolerations: readonly Toleration[], field: string): readonly FieldProblem[] {
  return tolerations.flatMap(({ key = '', operator = '', value = '', effect = '', tolerationSeconds }, index) => {
    const at = `${field}[${index}]`;
    const problems: FieldProblem[] = key === '' ? [] : qualifiedNameProblems(key).map((text) => invalid(`${at}.key`, key, text));
    if (key === '' && operator !== 'Exists') {
      problems.push(invalid(`${at}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'));
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      problems.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === '' || operator === 'Equal') problems.push(...labelValueProblems(value).map((text) => invalid(`${at}.operator`, value, text)));
    else if (operator === 'Exists') {
      if (value !== '') problems.push(invalid(`${at}.operator`, { key, operator, value, effect }, "value must be empty when `operator` is 'Exists'"));
    } else problems.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect !== '' && !effects.includes(effect)) problems.push(notSupported(`${at}.effect`, effect, effects));
    return problems;
  });
}

function validateSpread(constraints: readonly TopologySpreadConstraint[], field: string): readonly FieldProblem[] {
  const actions = ['DoNotSchedule', 'ScheduleAnyway'];
  const policies = ['Honor', 'Ignore'];
  const problems = constraints.flatMap((constraint, index): readonly FieldProblem[] => {
    const at = `${field}[${index}]`;
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', minDomains, labelSelector } = constraint;
    const own: FieldProblem[] = maxSkew > 0 ? [] : [invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero')];
    if (topologyKey === '') own.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!actions.includes(whenUnsatisfiable)) own.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, actions));
    if (minDomains !== undefined) {
      if (minDomains <= 0) own.push(invalid(`${at}.minDomains`, minDomains, 'must be greater than zero'));
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        own.push(invalid(`${at}.minDomains`, minDomains, detail));
      }
    }
    for (const key of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[key];
      if (policy !== undefined && !policies.includes(policy)) own.push(notSupported(`${at}.${key}`, policy, policies));
    }
    return labelSelector === undefined ? own : [...own, ...validateLabelSelector(labelSelector, `${at}.labelSelector`)];
  });
  const keyOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint) => `{${topologyKey}, ${whenUnsatisfiable}}`;
  const repeated = findDuplicates(constraints, keyOf, (one, index) => duplicate(`${field}[${index}].{topologyKey, whenUnsatisfiable}`, keyOf(one)));
  return [...problems, ...repeated];
}

function validateGates({ schedulingGates = [], nodeName = '' }: PodSpec, field: string): readonly FieldProblem[] {
  if (schedulingGates.length === 0) return [];
  const at = `${field}.schedulingGates`;
  const problems = schedulingGates.flatMap(({ name = '' }, index) =>
    qualifiedNameProblems(name).map((text) => invalid(`${at}[${index}]`, name, text)),
  );
  problems.push(
    ...findDuplicates(
      schedulingGates,
      ({ name }) => name ?? '',
      ({ name }, index) => duplicate(`${at}[${index}]`, name),
    ),
  );
  if (nodeName !== '') problems.push(forbidden(`${field}.nodeName`, 'cannot be set until all schedulingGates have been cleared'));
  return problems;
}
