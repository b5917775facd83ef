import { type FieldProblem, invalid, notSupported, required, tooLong } from '#api/field-problem.ts';
import { byteLength } from '#api/rules/checks.ts';
import type { JobSpec, JobTemplateSpec } from '#api/types/batch-v1.ts';
import { validateDomainPrefixedPath } from '../domain-prefixed-path.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { validatePodTemplate } from '../pod-template.ts';
import { validateNonNegatives, validateSelected } from '../workload.ts';
import { validateFailurePolicy } from './failure-policy.ts';
import { validateSuccessPolicy } from './success-policy.ts';

const maxIndexed = 100_000;
const highCompletions = 100_000;
const maxOfHighCompletions = 10_000;
const managerMaxBytes = 63;

/** Of a job: its selector is there, and selects its own pods. */
export function validateJobSpec(spec: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const { selector } = spec;
  return [
    ...validateShared(spec, field),
    ...(selector === undefined ? [required(`${field}.selector`)] : validateLabelSelector(selector, `${field}.selector`)),
    ...validateSelected(selector, spec.template, `${field}.template`),
  ];
}

/** Of a template of jobs: the selector is made for each of them. */
export function validateJobTemplate({ spec = { template: {} } }: JobTemplateSpec, field: string): readonly FieldProblem[] {
  const at = `${field}.spec`;
  return [
    ...validateShared(spec, at),
    ...(spec.selector === undefined ? [] : [invalid(`${at}.selector`, spec.selector, '`selector` will be auto-generated')]),
    ...(spec.manualSelector === true ? [notSupported(`${at}.manualSelector`, true, ['nil', 'false'])] : []),
  ];
}

function validateShared(spec: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const { parallelism, completions, activeDeadlineSeconds, backoffLimit, ttlSecondsAfterFinished, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const { managedBy, completionMode = 'NonIndexed', successPolicy } = spec;
  const problems = [
    ...validateNonNegatives({ parallelism, completions, activeDeadlineSeconds, backoffLimit, ttlSecondsAfterFinished }, field),
    ...validateNonNegatives({ backoffLimitPerIndex, maxFailedIndexes }, field),
  ];
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    problems.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (managedBy !== undefined) {
    problems.push(...validateDomainPrefixedPath(managedBy, `${field}.managedBy`));
    if (byteLength(managedBy) > managerMaxBytes) problems.push(tooLong(`${field}.managedBy`, managerMaxBytes));
  }
  if (completionMode === 'Indexed') problems.push(...validateIndexed(spec, field));
  else if (completionMode !== 'NonIndexed') problems.push(notSupported(`${field}.completionMode`, completionMode, ['NonIndexed', 'Indexed']));
  else problems.push(...validateNonIndexed(spec, field));
  if (spec.podFailurePolicy !== undefined) problems.push(...validateFailurePolicy(spec, `${field}.podFailurePolicy`));
  if (successPolicy !== undefined) {
    const at = `${field}.successPolicy`;
    if (completionMode !== 'Indexed') problems.push(invalid(at, successPolicy, 'requires indexed completion mode'));
    else problems.push(...validateSuccessPolicy(successPolicy, completions ?? 0, at));
  }
  return [
    ...problems,
    ...validateReplacement(spec, `${field}.podReplacementPolicy`),
    ...validatePodTemplate(spec.template, `${field}.template`),
    ...validateRestart(spec, `${field}.template.spec.restartPolicy`),
  ];
}

function validateIndexed(spec: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const problems: FieldProblem[] = [];
  const atMost = (key: 'parallelism' | 'maxFailedIndexes', limit: number, detail: string) => {
    const value = spec[key];
    if (value !== undefined && value > limit) problems.push(invalid(`${field}.${key}`, value, `must be less than or equal to ${detail}`));
  };
  if (completions === undefined) problems.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  if (parallelism !== undefined) atMost('parallelism', maxIndexed, `${maxIndexed} when completion mode is Indexed`);
  if (completions !== undefined) atMost('maxFailedIndexes', completions, 'completions');
  atMost('maxFailedIndexes', maxIndexed, String(maxIndexed));
  if (completions === undefined || completions <= highCompletions || backoffLimitPerIndex === undefined) return problems;
  if (maxFailedIndexes === undefined) {
    problems.push(required(`${field}.maxFailedIndexes`, `must be specified when completions is above ${highCompletions}`));
  }
  const detail = `${maxOfHighCompletions} when completions are above ${highCompletions} and used with backoff limit per index`;
  atMost('parallelism', maxOfHighCompletions, detail);
  atMost('maxFailedIndexes', maxOfHighCompletions, detail);
  return problems;
}

function validateNonIndexed(spec: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((key) =>
    spec[key] === undefined ? [] : [invalid(`${field}.${key}`, spec[key], 'requires indexed completion mode')],
  );
}

function validateReplacement({ podReplacementPolicy: policy, podFailurePolicy }: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const allowed = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return policy === undefined || allowed.includes(policy) ? [] : [notSupported(field, policy, allowed)];
}

/** The default of pods is none for a job, so who leaves it out is asked to say it. */
function validateRestart({ template, podFailurePolicy }: Partial<JobSpec>, field: string): readonly FieldProblem[] {
  const policy = template?.spec?.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(field, policy, ['OnFailure', 'Never'])];
  if (podFailurePolicy === undefined || policy === 'Never') return [];
  return [invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}
