import { ageColumn, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import type { ServiceAccount } from '#api/types/core-v1.ts';

export const serviceAccount = defineKind<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
  message: 'core.v1.ServiceAccount',
  shortNames: ['sa'],
  subresources: ['token'],
  answersDeleteWithObject: true,
  columns: [nameColumn, ageColumn],
});
