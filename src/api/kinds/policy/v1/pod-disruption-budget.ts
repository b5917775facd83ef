import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { type FieldProblem, invalid, notSupported } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateConditions } from '#api/rules/conditions.ts';
import { validateLabelSelector } from '#api/rules/label-selectors.ts';
import { validateAtMostAll, validateIntOrPercent, validateNonNegatives } from '#api/rules/workload.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '#api/types/policy-v1.ts';

/** These are always said, zero or not. */
const noPods: PodDisruptionBudgetStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
const unhealthyPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

export const podDisruptionBudget = defineKind<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
  message: 'policy.v1.PodDisruptionBudget',
  shortNames: ['pdb'],
  generation: 'spec',
  subresources: ['status'],
  allowsUnconditionalUpdate: false,
  columns: [
    nameColumn,
    column('Min Available', { description: 'How many pods must be there.', cell: ({ spec }) => String(spec?.minAvailable ?? 'N/A') }),
    column('Max Unavailable', { description: 'How many pods may be missing.', cell: ({ spec }) => String(spec?.maxUnavailable ?? 'N/A') }),
    column('Allowed Disruptions', {
      type: 'integer',
      description: 'How many pods may be evicted now.',
      cell: ({ status }) => status?.disruptionsAllowed ?? 0,
    }),
    ageColumn,
  ],
  prepareCreate: (object) => ({ ...object, status: noPods }),
  prepareStatusUpdate: (next) => ({ ...next, status: fill(next.status ?? {}, noPods) }),
  validate: ({ spec }) => validateSpec(spec ?? {}, 'spec'),
  validateStatusUpdate: ({ status }) => {
    const { conditions = [], disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status ?? {};
    return [
      ...validateConditions(conditions, 'status.conditions'),
      ...validateNonNegatives({ disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods }, 'status'),
    ];
  },
});

function validateSpec(spec: PodDisruptionBudgetSpec, field: string): readonly FieldProblem[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: unhealthy } = spec;
  const hasBoth = minAvailable !== undefined && maxUnavailable !== undefined;
  // Upstream prints its own form of the spec.
  const shown = {
    MinAvailable: minAvailable,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthy ?? null,
  };
  return [
    ...(hasBoth ? [invalid(field, shown, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...validateIntOrPercent(minAvailable, `${field}.minAvailable`),
    ...validateAtMostAll(minAvailable, `${field}.minAvailable`),
    ...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateAtMostAll(maxUnavailable, `${field}.maxUnavailable`),
    ...(unhealthy === undefined || unhealthyPolicies.includes(unhealthy)
      ? []
      : [notSupported(`${field}.unhealthyPodEvictionPolicy`, unhealthy, unhealthyPolicies)]),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${field}.selector`)),
  ];
}
