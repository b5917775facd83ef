import { ageColumn, column, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import type { Namespace } from '#api/types/core-v1.ts';

const nameLabel = 'kubernetes.io/metadata.name';

export const namespace = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
  message: 'core.v1.Namespace',
  shortNames: ['ns'],
  nameRule: 'label',
  selectableFields: { 'status.phase': (namespace) => namespace.status?.phase ?? '' },
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: ['status', 'finalize'],
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Status', { description: 'The status of the namespace', cell: (namespace) => namespace.status?.phase ?? '' }),
    ageColumn,
  ],
  setDefaults: withNameLabel,
  prepareCreate: (namespace) => {
    const { finalizers = [] } = namespace.spec ?? {};
    const kept = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
    return { ...namespace, spec: { ...namespace.spec, finalizers: kept }, status: { phase: 'Active' } };
  },
  // Finalizers of the spec change through /finalize only.
  prepareUpdate: (next, previous) => ({ ...next, spec: { ...next.spec, finalizers: previous.spec?.finalizers } }),
  validateStatusUpdate: (next): readonly FieldProblem[] => {
    const phase = next.status?.phase;
    const isDeleting = next.metadata.deletionTimestamp !== undefined;
    if (!isDeleting && phase !== 'Active') {
      return [invalid('status.phase', phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty")];
    }
    return isDeleting && phase !== 'Terminating'
      ? [invalid('status.phase', phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty")]
      : [];
  },
});

function withNameLabel(namespace: Namespace): Namespace {
  const { name, labels } = namespace.metadata;
  if (name === undefined || name === '' || labels?.[nameLabel] === name) return namespace;
  return { ...namespace, metadata: { ...namespace.metadata, labels: { ...labels, [nameLabel]: name } } };
}
