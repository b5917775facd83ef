import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { MatchResources, ParamKind, ParamRef, Variable } from '#api/types/admissionregistration-v1.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { dns1035LabelProblems, pathSegmentProblems, subdomainProblems } from '../names.ts';
import { validateNamedRule } from './rules.ts';
import { failurePolicies, matchPolicies } from './webhooks.ts';

const notFoundActions = ['Deny', 'Allow'];
const reserved = 'true false null in as break const continue else for function if import let loop package namespace return var void while';
const reservedWords: ReadonlySet<string> = new Set(reserved.split(' '));

export function validateFailurePolicy(policy: string | undefined, field: string): readonly FieldProblem[] {
  if (policy === undefined) return [required(field)];
  return failurePolicies.includes(policy) ? [] : [notSupported(field, policy, failurePolicies)];
}

/** What a policy is about; it must say so. */
export function validateMatchConstraints(match: MatchResources | undefined, field: string): readonly FieldProblem[] {
  if (match === undefined) return [required(field)];
  const problems = validateMatchResources(match, field);
  return (match.resourceRules ?? []).length > 0 ? problems : [...problems, required(`${field}.resourceRules`)];
}

export function validateMatchResources(match: MatchResources, field: string): readonly FieldProblem[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  const policy = `${field}.matchPolicy`;
  return [
    ...(matchPolicy === undefined ? [required(policy)] : []),
    ...(matchPolicy === undefined || matchPolicies.includes(matchPolicy) ? [] : [notSupported(policy, matchPolicy, matchPolicies)]),
    ...(namespaceSelector === undefined
      ? [required(`${field}.namespaceSelector`)]
      : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...(objectSelector === undefined ? [required(`${field}.objectSelector`)] : validateLabelSelector(objectSelector, `${field}.objectSelector`)),
    ...resourceRules.flatMap((rule, index) => validateNamedRule(rule, `${field}.resourceRules[${index}]`)),
    ...excludeResourceRules.flatMap((rule, index) => validateNamedRule(rule, `${field}.excludeResourceRules[${index}]`)),
  ];
}

export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, field: string): readonly FieldProblem[] {
  const lower = dns1035LabelProblems(kind.toLowerCase());
  return [
    ...validateGroupVersion(apiVersion, `${field}.apiVersion`),
    ...(kind === '' ? [required(`${field}.kind`)] : []),
    ...(kind === '' || lower.length === 0
      ? []
      : [invalid(`${field}.kind`, kind, `may have mixed case, but should otherwise match: ${lower.join(',')}`)]),
  ];
}

function validateGroupVersion(apiVersion: string, field: string): readonly FieldProblem[] {
  if (apiVersion === '') return [required(field)];
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [group = '', version = ''] = parts.length === 1 ? ['', parts[0]] : parts;
  const ofGroup = group === '' ? [] : subdomainProblems(group);
  const ofVersion = dns1035LabelProblems(version);
  return [
    ...(ofGroup.length === 0 ? [] : [invalid(field, group, ofGroup.join(','))]),
    ...(version === ''
      ? [invalid(field, apiVersion, 'version must be specified')]
      : ofVersion.length === 0
        ? []
        : [invalid(field, version, ofVersion.join(','))]),
  ];
}

export function validateParamRef(reference: ParamRef, field: string): readonly FieldProblem[] {
  const { name = '', selector, parameterNotFoundAction: action = '' } = reference;
  const isBoth = name !== '' && selector !== undefined;
  const exclusive = 'name and selector are mutually exclusive';
  return [
    ...(name === '' ? [] : pathSegmentProblems(name).map((text) => invalid(`${field}.name`, name, text))),
    ...(isBoth ? [forbidden(`${field}.name`, exclusive)] : []),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${field}.selector`)),
    ...(isBoth ? [forbidden(`${field}.selector`, exclusive)] : []),
    ...(name === '' && selector === undefined ? [required(field, 'one of name or selector must be specified')] : []),
    ...(action === '' ? [required(`${field}.parameterNotFoundAction`)] : []),
    ...(action === '' || notFoundActions.includes(action) ? [] : [notSupported(`${field}.parameterNotFoundAction`, action, notFoundActions)]),
  ];
}

/** What a binding says of both kinds of policies. */
export function validateBinding(
  spec: { readonly policyName?: string | undefined; readonly paramRef?: ParamRef | undefined; readonly matchResources?: MatchResources | undefined },
  field: string,
): readonly FieldProblem[] {
  const { policyName = '', paramRef, matchResources } = spec;
  return [
    ...(policyName === '' ? [required(`${field}.policyName`)] : []),
    ...(policyName === '' ? [] : subdomainProblems(policyName).map((text) => invalid(`${field}.policyName`, policyName, text))),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, `${field}.paramRef`)),
    // Upstream's message spells it so.
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, `${field}.matchResouces`)),
  ];
}

export function validateVariables(variables: readonly Variable[], field: string): readonly FieldProblem[] {
  return variables.flatMap(({ name = '', expression = '' }, index) => {
    const at = `${field}[${index}]`;
    const isIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reservedWords.has(name);
    return [
      ...(name.trim() === '' ? [required(`${at}.name`, 'name is not specified')] : []),
      ...(name.trim() === '' || isIdentifier ? [] : [invalid(`${at}.name`, name, 'name is not a valid CEL identifier')]),
      ...(expression.trim() === '' ? [required(`${at}.expression`, 'expression is not specified')] : []),
    ];
  });
}
