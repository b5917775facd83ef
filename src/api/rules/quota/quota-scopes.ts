import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '#api/types/core-v1.ts';
import { isQuotaName } from './resource-names.ts';

const podCompute = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const ofPods: readonly string[] = ['pods', ...podCompute];

/** What each scope can count, among the names without a domain. */
const scopes: ReadonlyMap<string, readonly string[]> = new Map([
  ['Terminating', ofPods],
  ['NotTerminating', ofPods],
  ['BestEffort', ['pods']],
  ['NotBestEffort', ofPods],
  ['PriorityClass', ofPods],
  ['CrossNamespacePodAffinity', ofPods],
  ['VolumeAttributesClass', ['persistentvolumeclaims', 'requests.storage']],
]);
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const withoutValues = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const onlyExists =
  "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
  'ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';

export function validateScopes(spec: ResourceQuotaSpec, field: string): readonly FieldProblem[] {
  const given = spec.scopes ?? [];
  const at = `${field}.scopes`;
  return [
    ...given.flatMap((scope) => (scopes.has(scope) ? [] : [invalid(at, given, 'unsupported scope')])),
    ...given.flatMap((scope) => unsuited(spec, scope).map(() => invalid(at, given, 'unsupported scope applied to resource'))),
    ...(hasOpposites(given) ? [invalid(at, given, 'conflicting scopes')] : []),
  ];
}

export function validateScopeSelector(spec: ResourceQuotaSpec, field: string): readonly FieldProblem[] {
  const at = `${field}.scopeSelector.matchExpressions`;
  const requirements = spec.scopeSelector?.matchExpressions ?? [];
  const problems = requirements.flatMap((requirement) => [
    ...(scopes.has(requirement.scopeName) ? [] : [invalid(`${at}.scopeName`, requirement.scopeName, 'unsupported scope')]),
    ...unsuited(spec, requirement.scopeName).map(() => invalid(at, spec.scopeSelector, 'unsupported scope applied to resource')),
    ...validateOperator(requirement, at),
  ]);
  // Upstream prints the other list of scopes here.
  return hasOpposites(requirements.map(({ scopeName }) => scopeName)) ? [...problems, invalid(at, spec.scopes, 'conflicting scopes')] : problems;
}

function hasOpposites(given: readonly string[]): boolean {
  return opposites.some((pair) => pair.every((scope) => given.includes(scope)));
}

function validateOperator({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, field: string): readonly FieldProblem[] {
  const problems = withoutValues.includes(scopeName) && operator !== 'Exists' ? [invalid(`${field}.operator`, operator, onlyExists)] : [];
  const at = `${field}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return values.length > 0 ? problems : [...problems, required(at, detail)];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return values.length === 0 ? problems : [...problems, invalid(at, values, detail)];
    }
    default:
      return [...problems, invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

/** Resources of the quota that the scope cannot count. */
function unsuited({ hard = {} }: ResourceQuotaSpec, scope: string): readonly string[] {
  const suited = scopes.get(scope);
  return suited === undefined ? [] : Object.keys(hard).filter((name) => isQuotaName(name) && !suited.includes(name));
}
