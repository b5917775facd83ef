import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { validateConditionTypes } from '#api/rules/flow-control/condition-types.ts';
import { validateFlowSchema } from '#api/rules/flow-control/flow-schema.ts';
import type { FlowSchema } from '#api/types/flowcontrol-v1.ts';

const defaultPrecedence = 1000;

export const flowSchema = defineKind<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  message: 'flowcontrol.v1.FlowSchema',
  subresources: ['status'],
  generation: 'spec',
  columns: [
    nameColumn,
    column('PriorityLevel', { description: 'Where its requests wait.', cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? '' }),
    column('MatchingPrecedence', { description: 'The lowest one that matches wins.', cell: ({ spec }) => spec?.matchingPrecedence ?? 0 }),
    column('DistinguisherMethod', {
      description: 'By what its requests are parted into flows.',
      cell: ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
    }),
    ageColumn,
    column('MissingPL', {
      description: 'Whether there is no such priority level.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    }),
  ],
  setDefaults: (schema) =>
    changePart(schema, 'spec', (spec) => ((spec.matchingPrecedence ?? 0) === 0 ? { ...spec, matchingPrecedence: defaultPrecedence } : spec)),
  validate: validateFlowSchema,
  validateStatusUpdate: ({ status }) => validateConditionTypes(status?.conditions ?? [], 'status.conditions'),
});
