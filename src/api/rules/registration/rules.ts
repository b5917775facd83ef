import { duplicate, type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { MatchCondition, NamedRuleWithOperations, RuleWithOperations } from '#api/types/admissionregistration-v1.ts';
import { findDuplicates } from '../checks.ts';
import { pathSegmentProblems, qualifiedNameProblems } from '../names.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const matchConditionsMax = 64;

/** Which requests a webhook or a policy is about. */
export function validateRule(rule: RuleWithOperations, field: string): readonly FieldProblem[] {
  const { operations: given = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...validateWildcard(given, 'operations', `${field}.operations`),
    ...given.flatMap((operation, index) =>
      operations.includes(operation) ? [] : [notSupported(`${field}.operations[${index}]`, operation, operations)],
    ),
    ...validateWildcard(apiGroups, 'API groups', `${field}.apiGroups`),
    ...validateWildcard(apiVersions, 'API versions', `${field}.apiVersions`),
    ...apiVersions.flatMap((version, index) => (version === '' ? [required(`${field}.apiVersions[${index}]`)] : [])),
    ...validateResources(resources, `${field}.resources`),
    ...(scope === undefined || scopes.includes(scope) ? [] : [notSupported(`${field}.scope`, scope, scopes)]),
  ];
}

export function validateNamedRule(rule: NamedRuleWithOperations, field: string): readonly FieldProblem[] {
  const { resourceNames = [] } = rule;
  return [
    ...resourceNames.flatMap((name, index) => pathSegmentProblems(name).map((text) => invalid(`${field}.resourceNames[${index}]`, name, text))),
    ...findDuplicates(
      resourceNames,
      (name) => name,
      (name, index) => duplicate(`${field}.resourceNames[${index}]`, name),
    ),
    ...validateRule(rule, field),
  ];
}

/** Expressions are not compiled here: that they are sound is said when they are used. */
export function validateMatchConditions(conditions: readonly MatchCondition[], field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (conditions.length > matchConditionsMax) {
    problems.push({ type: 'TooMany', field, badValue: conditions.length, detail: `must have at most ${matchConditionsMax} items` });
  }
  for (const [index, { name = '', expression = '' }] of conditions.entries()) {
    const at = `${field}[${index}]`;
    if (expression.trim() === '') problems.push(required(`${at}.expression`));
    if (name === '') problems.push(required(`${at}.name`));
    else problems.push(...qualifiedNameProblems(name).map((text) => invalid(`${at}.name`, name, text)));
  }
  const repeated = findDuplicates(
    conditions.filter(({ name = '' }) => name !== ''),
    ({ name }) => name,
    (condition) => duplicate(`${field}[${conditions.indexOf(condition)}].name`, condition.name),
  );
  return [...problems, ...repeated];
}

function validateWildcard(values: readonly string[], what: string, field: string): readonly FieldProblem[] {
  if (values.length === 0) return [required(field)];
  return values.length > 1 && values.includes('*') ? [invalid(field, values, `if '*' is present, must not specify other ${what}`)] : [];
}

function validateResources(resources: readonly string[], field: string): readonly FieldProblem[] {
  if (resources.length === 0) return [required(field)];
  const problems = resources.flatMap((resource, index) => validateResource(resource, resources.slice(0, index), `${field}[${index}]`));
  if (resources.length > 1 && resources.includes('*/*')) {
    problems.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"));
  }
  // Upstream asks the last one without a subresource only.
  const last = resources.filter((resource) => resource !== '' && !resource.includes('/')).at(-1);
  if (resources.includes('*') && last !== '*') {
    problems.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return problems;
}

function validateResource(text: string, earlier: readonly string[], field: string): FieldProblem[] {
  if (text === '') return [required(field)];
  const slash = text.indexOf('/');
  if (slash < 0) return [];
  const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
  return [`${resource}/*`, `*/${subresource}`]
    .filter((wildcard) => earlier.includes(wildcard))
    .map((wildcard) => invalid(field, text, `if '${wildcard}' is present, must not specify ${text}`));
}
