import { defaultAutoscaler } from '#api/autoscaler/default-autoscaler.ts';
import { targetsText } from '#api/autoscaler/targets-text.ts';
import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { validateAutoscaler, validateAutoscalerStatus } from '#api/rules/autoscaler/autoscaler.ts';
import type { HorizontalPodAutoscaler } from '#api/types/autoscaling-v2.ts';

export const horizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  scope: 'Namespaced',
  message: 'autoscaling.v2.HorizontalPodAutoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  subresources: ['status'],
  columns: [
    nameColumn,
    column('Reference', {
      description: 'What is scaled.',
      cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    }),
    column('Targets', { description: 'What the metrics are and should be.', cell: targetsText }),
    column('MinPods', { description: 'The fewest pods.', cell: ({ spec }) => String(spec.minReplicas ?? '<unset>') }),
    column('MaxPods', { type: 'integer', description: 'The most pods.', cell: ({ spec }) => spec.maxReplicas }),
    column('Replicas', { type: 'integer', description: 'How many pods there are.', cell: ({ status }) => status?.currentReplicas ?? 0 }),
    ageColumn,
  ],
  setDefaults: defaultAutoscaler,
  prepareCreate: (object) => ({ ...object, status: { desiredReplicas: 0, currentReplicas: 0 } }),
  validateCreate: (object) => validateAutoscaler(object, undefined),
  validateUpdate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
});
