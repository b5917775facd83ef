import { type FieldProblem, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateLabelSelector } from '#api/rules/label-selectors.ts';
import { validatePolicyRules } from '#api/rules/rbac-roles.ts';
import type { AggregationRule, ClusterRole } from '#api/types/rbac-v1.ts';

export const clusterRole = defineKind<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  message: 'rbac.v1.ClusterRole',
  nameRule: 'path-segment',
  createsOnUpdate: true,
  validate: ({ rules, aggregationRule }) => [...validatePolicyRules(rules, 'Cluster'), ...validateAggregation(aggregationRule)],
});

function validateAggregation(rule: AggregationRule | undefined): readonly FieldProblem[] {
  if (rule === undefined) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = rule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, index) => validateLabelSelector(selector, `${field}[${index}]`));
}
