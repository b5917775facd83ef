import { type FieldProblem, invalid, required } from '../field-problem.ts';
import type { PolicyRule } from '../types/rbac-v1.ts';

/** The rules of a role. @param scope of the role: only cluster roles reach paths that are no resources */
export function validatePolicyRules(rules: readonly PolicyRule[] | undefined, scope: 'Namespaced' | 'Cluster'): readonly FieldProblem[] {
  return (rules ?? []).flatMap((rule, index) => validatePolicyRule(rule, scope, `rules[${index}]`));
}

function validatePolicyRule(rule: PolicyRule, scope: 'Namespaced' | 'Cluster', field: string): readonly FieldProblem[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const problems = verbs.length === 0 ? [required(`${field}.verbs`, 'verbs must contain at least one value')] : [];
  if (nonResourceURLs.length > 0) {
    const wrong = (detail: string) => invalid(`${field}.nonResourceURLs`, nonResourceURLs, detail);
    if (scope === 'Namespaced') problems.push(wrong('namespaced rules cannot apply to non-resource URLs'));
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      problems.push(wrong('rules cannot apply to both regular resources and non-resource URLs'));
    }
    return problems;
  }
  if (apiGroups.length === 0) problems.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0) problems.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return problems;
}
