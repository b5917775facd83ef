import { ageColumn, column, nameColumn } from '#api/column.ts';
import { duplicate, type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { findDuplicates } from '#api/rules/checks.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { qualifiedNameProblems } from '#api/rules/names.ts';
import { validateDriverName } from '#api/rules/storage/names.ts';
import type { CSINode, CSINodeDriver } from '#api/types/storage-v1.ts';

const nodeIdMax = 256;

export const csiNode = defineKind<CSINode>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
  message: 'storage.v1.CSINode',
  allowsUnconditionalUpdate: false,
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Drivers', {
      type: 'integer',
      description: 'How many CSI drivers are registered on the node.',
      cell: ({ spec }) => (spec?.drivers ?? []).length,
    }),
    ageColumn,
  ],
  validate: ({ spec }) => {
    const drivers = spec?.drivers ?? [];
    return drivers.flatMap((driver, index) => validateDriver(driver, drivers.slice(0, index), `spec.drivers[${index}]`));
  },
  // A driver's entry comes and goes as a whole; only what the node has room for may change.
  validateUpdate: (next, previous) =>
    (previous.spec?.drivers ?? []).flatMap((before) => {
      const after = (next.spec?.drivers ?? []).find(({ name }) => name === before.name);
      return after === undefined ? [] : validateImmutable(withoutRoom(after), withoutRoom(before), 'spec.drivers');
    }),
});

function validateDriver(driver: CSINodeDriver, earlier: readonly CSINodeDriver[], field: string): readonly FieldProblem[] {
  const { name = '', nodeID = '', topologyKeys = [], allocatable } = driver;
  const count = allocatable?.count ?? 0;
  return [
    ...validateDriverName(name, `${field}.name`),
    ...(nodeID === '' ? [required(`${field}.nodeID`)] : []),
    ...(nodeID.length > nodeIdMax ? [invalid(`${field}.nodeID`, nodeID, `must be ${nodeIdMax} characters or less`)] : []),
    ...(count < 0 ? [invalid(`${field}.allocatable.count`, count, 'must be greater than or equal to 0')] : []),
    ...(earlier.some((other) => other.name === name) ? [duplicate(`${field}.name`, name)] : []),
    ...topologyKeys.flatMap((key) => [
      ...(key === '' ? [required(field)] : []),
      ...qualifiedNameProblems(key).map((text) => invalid(field, key, text)),
    ]),
    ...findDuplicates(
      topologyKeys,
      (key) => key,
      (key) => duplicate(field, key),
    ),
  ];
}

function withoutRoom({ allocatable: _, ...driver }: CSINodeDriver) {
  return driver;
}
