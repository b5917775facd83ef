import { column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import type { ComponentCondition, ComponentStatus } from '#api/types/core-v1.ts';

/** Never stored: what the API server knows of the parts that it works with. */
export const componentStatus = defineKind<ComponentStatus>({
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  scope: 'Cluster',
  message: 'core.v1.ComponentStatus',
  shortNames: ['cs'],
  verbs: ['get', 'list'],
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  columns: [
    nameColumn,
    column('Status', { description: 'Whether the part is healthy.', cell: (component) => statusText(healthOf(component)) }),
    column('Message', { description: 'What the part says of itself.', cell: (component) => healthOf(component)?.message ?? '' }),
    column('Error', { description: 'Why it cannot be asked.', cell: (component) => healthOf(component)?.error ?? '' }),
  ],
});

function healthOf({ conditions = [] }: ComponentStatus): ComponentCondition | undefined {
  return conditions.find(({ type }) => type === 'Healthy');
}

function statusText(health: ComponentCondition | undefined): string {
  if (health === undefined) return 'Unknown';
  return health.status === 'True' ? 'Healthy' : 'Unhealthy';
}
