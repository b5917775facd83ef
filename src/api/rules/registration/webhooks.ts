import { duplicate, type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { MutatingWebhook, ValidatingWebhook } from '#api/types/admissionregistration-v1.ts';
import { findDuplicates } from '../checks.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { dns1035LabelProblems, subdomainProblems } from '../names.ts';
import { validateClientConfig } from './client-config.ts';
import { validateMatchConditions, validateRule } from './rules.ts';

export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];
export const reinvocationPolicies = ['IfNeeded', 'Never'];
const sideEffects = ['None', 'NoneOnDryRun'];
const reviewVersions = ['v1', 'v1beta1'];
const timeoutMaxSeconds = 30;

/** The webhooks of a configuration. */
export function validateWebhooks(webhooks: readonly (ValidatingWebhook | MutatingWebhook)[], field: string): readonly FieldProblem[] {
  const problems = webhooks.flatMap((webhook, index) => validateWebhook(webhook, `${field}[${index}]`));
  const repeated = findDuplicates(
    webhooks.filter(({ name = '' }) => name !== ''),
    ({ name }) => name,
    (webhook) => duplicate(`${field}[${webhooks.indexOf(webhook)}].name`, webhook.name),
  );
  return [...problems, ...repeated];
}

function validateWebhook(webhook: ValidatingWebhook | MutatingWebhook, field: string): readonly FieldProblem[] {
  const { name = '', rules = [], timeoutSeconds: seconds, namespaceSelector, objectSelector, clientConfig, matchConditions = [] } = webhook;
  const reinvocation = 'reinvocationPolicy' in webhook ? webhook.reinvocationPolicy : undefined;
  return [
    ...validateHookName(name, `${field}.name`),
    ...rules.flatMap((rule, index) => validateRule(rule, `${field}.rules[${index}]`)),
    ...validateOptional(webhook.failurePolicy, failurePolicies, `${field}.failurePolicy`),
    ...validateOptional(webhook.matchPolicy, matchPolicies, `${field}.matchPolicy`),
    ...validateSideEffects(webhook.sideEffects, `${field}.sideEffects`),
    ...(seconds !== undefined && (seconds < 1 || seconds > timeoutMaxSeconds)
      ? [invalid(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...(objectSelector === undefined ? [] : validateLabelSelector(objectSelector, `${field}.objectSelector`)),
    ...validateOptional(reinvocation, reinvocationPolicies, `${field}.reinvocationPolicy`),
    ...validateClientConfig(clientConfig ?? {}, `${field}.clientConfig`),
    ...validateMatchConditions(matchConditions, `${field}.matchConditions`),
    ...validateReviewVersions(webhook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`),
  ];
}

export function validateOptional(value: string | undefined, allowed: readonly string[], field: string): readonly FieldProblem[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function validateHookName(name: string, field: string): readonly FieldProblem[] {
  if (name === '') return [required(field)];
  const problems = subdomainProblems(name);
  if (problems.length > 0) return [invalid(field, name, problems.join(','))];
  return name.split('.').length < 3 ? [invalid(field, name, 'should be a domain with at least three segments separated by dots')] : [];
}

function validateSideEffects(value: string | undefined, field: string): readonly FieldProblem[] {
  if (value === undefined) return [required(field, `must specify one of ${sideEffects.join(', ')}`)];
  return validateOptional(value, sideEffects, field);
}

function validateReviewVersions(versions: readonly string[], field: string): readonly FieldProblem[] {
  if (versions.length === 0) return [required(field, `must specify one of ${reviewVersions.join(', ')}`)];
  const problems = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [invalid(`${field}[${index}]`, version, 'duplicate version')];
    return dns1035LabelProblems(version).map((text) => invalid(`${field}[${index}]`, version, text));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return problems;
  return [...problems, invalid(field, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}
