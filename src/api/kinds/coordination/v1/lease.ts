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
});
