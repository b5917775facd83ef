import { ageColumn, column, nameColumn } from '#api/column.ts';
import { deepEqual } from '#api/deep-equal.ts';
import { duplicate, type FieldProblem, invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateLabels } from '#api/rules/metadata.ts';
import { labelProblems } from '#api/rules/names.ts';
import { validateList } from '#api/rules/pod/resources.ts';
import { validateTolerations } from '#api/rules/pod/scheduling.ts';
import type { RuntimeClass, Scheduling } from '#api/types/node-v1.ts';

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
  validate: ({ handler = '', overhead, scheduling }) => [
    ...labelProblems(handler).map((problem) => invalid('handler', handler, problem)),
    ...(overhead === undefined ? [] : validateList(overhead.podFixed ?? {}, 'overhead.limits')), // so says upstream's message
    ...(scheduling === undefined ? [] : validateScheduling(scheduling, 'scheduling')),
  ],
  validateUpdate: (next, previous) => (next.handler === previous.handler ? [] : [invalid('handler', next.handler, 'field is immutable')]),
});

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, field: string): readonly FieldProblem[] {
  return [
    ...validateLabels(nodeSelector, `${field}.nodeSelector`),
    ...tolerations.flatMap((toleration, index) => {
      const at = `${field}.tolerations[${index}]`;
      const isRepeated = tolerations.slice(0, index).some((earlier) => deepEqual(earlier, toleration));
      return isRepeated ? [duplicate(at, toleration)] : [];
    }),
    ...validateTolerations(tolerations, `${field}.tolerations`),
  ];
}
