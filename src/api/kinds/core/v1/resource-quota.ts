import { ageColumn, column, nameColumn } from '#api/column.ts';
import { invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateScopeSelector, validateScopes } from '#api/rules/quota/quota-scopes.ts';
import { validateQuotaList } from '#api/rules/quota/resource-names.ts';
import type { ResourceQuota } from '#api/types/core-v1.ts';

export const resourceQuota = defineKind<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  scope: 'Namespaced',
  message: 'core.v1.ResourceQuota',
  shortNames: ['quota'],
  subresources: ['status'],
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Request', { description: 'What is used, of what may be.', cell: (quota) => usageText(quota, (name) => !name.startsWith('limits')) }),
    column('Limit', { description: 'Limits in use, of what they may be.', cell: (quota) => usageText(quota, (name) => name.startsWith('limits')) }),
    ageColumn,
  ],
  validate: ({ spec = {}, status = {} }) => [
    ...validateQuotaList(spec.hard ?? {}, 'spec.hard'),
    ...validateScopes(spec, 'spec'),
    ...validateScopeSelector(spec, 'spec'),
    ...validateQuotaList(status.hard ?? {}, 'status.hard'),
    ...validateQuotaList(status.used ?? {}, 'status.used'),
  ],
  validateUpdate: (next, previous) => {
    const [after, before] = [next, previous].map(({ spec }) => [...new Set(spec?.scopes ?? [])].sort().join());
    return after === before ? [] : [invalid('spec.scopes', next.spec?.scopes, 'field is immutable')];
  },
  validateStatusUpdate: ({ status = {} }) => [
    ...validateQuotaList(status.hard ?? {}, 'status.hard'),
    ...validateQuotaList(status.used ?? {}, 'status.used'),
  ],
});

/** Of what the quota's controller has seen. */
function usageText({ status }: ResourceQuota, isShown: (name: string) => boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  const shown = Object.entries(hard).filter(([name]) => isShown(name));
  return shown
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, amount]) => `${name}: ${used[name] ?? '0'}/${amount}`)
    .join(', ');
}
