import { semanticEqual } from '#api/deep-equal.ts';
import { labelSelectorMatcher } from '#api/selector.ts';
import type { ClusterRole, PolicyRule } from '#api/types/rbac-v1.ts';

/**
 * The rules that an aggregated role is to have: those of the roles that its selectors pick, selector by selector, by name, each once.
 *
 * @returns undefined when the role has them, or puts nothing together
 */
export function planAggregation(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const byName = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
    const matcher = labelSelectorMatcher(selector);
    for (const part of byName) {
      if (part.metadata.name === role.metadata.name || !matcher.matches(part.metadata.labels)) continue;
      for (const rule of part.rules ?? []) if (!rules.some((known) => semanticEqual(known, rule))) rules.push(rule);
    }
  }
  return semanticEqual(rules, role.rules ?? []) ? undefined : rules;
}
