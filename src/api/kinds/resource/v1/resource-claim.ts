import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart } from '#api/copy-on-write.ts';
import { defaultResourceClaimSpec } from '#api/devices/defaults.ts';
import { defineKind } from '#api/kind.ts';
import { validateResourceClaimSpec } from '#api/rules/devices/claim.ts';
import { validateResourceClaimStatus } from '#api/rules/devices/claim-status.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import type { ResourceClaim } from '#api/types/resource-v1.ts';

export const resourceClaim = defineKind<ResourceClaim>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  scope: 'Namespaced',
  message: 'resource.v1.ResourceClaim',
  subresources: ['status'],
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('State', { description: 'Whether devices are allocated to it, and reserved for someone.', cell: stateText }),
    ageColumn,
  ],
  setDefaults: (claim) => changePart(claim, 'spec', defaultResourceClaimSpec),
  validateCreate: ({ spec }) => validateResourceClaimSpec(spec ?? {}, 'spec'),
  validateUpdate: (next, previous) => validateImmutable(next.spec, previous.spec, 'spec'),
  validateStatusUpdate: validateResourceClaimStatus,
});

function stateText({ metadata, status = {} }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const isReserved = (status.reservedFor ?? []).length > 0;
  const use = status.allocation === undefined ? (isDeleted ? [] : ['pending']) : ['allocated', ...(isReserved ? ['reserved'] : [])];
  return [...(isDeleted ? ['deleted'] : []), ...use].join(',');
}
