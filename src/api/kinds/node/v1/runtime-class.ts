import { ageColumn, column, nameColumn } from '#api/column.ts';
import { invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { labelProblems } from '#api/rules/names.ts';
import type { RuntimeClass } from '#api/types/node-v1.ts';

export const runtimeClass = defineKind<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  message: 'node.v1.RuntimeClass',
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,
  columns: [nameColumn, column('Handler', { description: 'What the container runtime calls it.', cell: (runtime) => runtime.handler }), ageColumn],
  validate: ({ handler }) => labelProblems(handler ?? '').map((problem) => invalid('handler', handler ?? '', problem)),
  validateUpdate: (next, previous) => (next.handler === previous.handler ? [] : [invalid('handler', next.handler, 'field is immutable')]),
});
