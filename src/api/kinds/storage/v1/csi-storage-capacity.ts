import { column, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { compareQuantities } from '#api/quantity.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateLabelSelector } from '#api/rules/label-selectors.ts';
import { validateClassName } from '#api/rules/storage/names.ts';
import type { CSIStorageCapacity } from '#api/types/storage-v1.ts';

export const csiStorageCapacity = defineKind<CSIStorageCapacity>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  message: 'storage.v1.CSIStorageCapacity',
  allowsUnconditionalUpdate: false,
  columns: [
    nameColumn,
    column('StorageClassName', { description: 'The class that it is about.', cell: ({ storageClassName }) => storageClassName }),
    column('Capacity', { description: 'How much is left.', cell: ({ capacity }) => capacity ?? '' }),
  ],
  validate: ({ nodeTopology, storageClassName = '', capacity = '0' }): readonly FieldProblem[] => [
    ...(nodeTopology === undefined ? [] : validateLabelSelector(nodeTopology, 'nodeTopology')),
    ...validateClassName(storageClassName, 'storageClassName'),
    ...(compareQuantities(capacity, '0') < 0 ? [invalid('capacity', capacity, 'must be greater than or equal to 0')] : []),
  ],
  validateUpdate: (next, previous) => [
    ...validateImmutable(next.nodeTopology, previous.nodeTopology, 'nodeTopology'),
    ...validateImmutable(next.storageClassName, previous.storageClassName, 'storageClassName'),
  ],
});
