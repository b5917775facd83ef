import { ageColumn, nameColumn } from '#api/column.ts';
import { changePart } from '#api/copy-on-write.ts';
import { defaultResourceClaimSpec } from '#api/devices/defaults.ts';
import { defineKind } from '#api/kind.ts';
import { validateResourceClaimSpec } from '#api/rules/devices/claim.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateTemplateMetadata } from '#api/rules/metadata.ts';
import type { ResourceClaimTemplate } from '#api/types/resource-v1.ts';

export const resourceClaimTemplate = defineKind<ResourceClaimTemplate>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  scope: 'Namespaced',
  message: 'resource.v1.ResourceClaimTemplate',
  answersDeleteWithObject: true,
  columns: [nameColumn, ageColumn],
  setDefaults: (template) => changePart(template, 'spec', (spec) => changePart(spec, 'spec', defaultResourceClaimSpec)),
  validateCreate: ({ spec }) => [
    ...validateTemplateMetadata(spec?.metadata ?? {}, 'spec.metadata'),
    ...validateResourceClaimSpec(spec?.spec ?? {}, 'spec.spec'),
  ],
  validateUpdate: (next, previous) => validateImmutable(next.spec, previous.spec, 'spec'),
});
