import { ageColumn, column, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import type { Lease } from '#api/types/coordination-v1.ts';

export const lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  message: 'coordination.v1.Lease',
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,
  columns: [nameColumn, column('Holder', { description: 'Who holds the lease.', cell: (lease) => lease.spec?.holderIdentity ?? '' }), ageColumn],
  validate: ({ spec }): readonly FieldProblem[] => [
    ...(spec?.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0
      ? [invalid('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0')]
      : []),
    ...(spec?.leaseTransitions !== undefined && spec.leaseTransitions < 0
      ? [invalid('spec.leaseTransitions', spec.leaseTransitions, 'must be greater than or equal to 0')]
      : []),
  ],
});
