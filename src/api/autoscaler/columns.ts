import { ageColumn, type Column, column, nameColumn } from '#api/column.ts';
import type { HorizontalPodAutoscaler } from '#api/types/autoscaling-v2.ts';
import { targetsText } from './targets-text.ts';

/** The row of an autoscaler in whatever version it is asked for. */
export const autoscalerColumns: readonly Column<HorizontalPodAutoscaler>[] = [
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
];
