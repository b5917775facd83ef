import { autoscalerColumns } from '#api/autoscaler/columns.ts';
import { specAnnotations, statusAnnotations, withAnnotationsOf } from '#api/autoscaler/convert-v1.ts';
import { defaultAutoscaler } from '#api/autoscaler/default-autoscaler.ts';
import { fill } from '#api/copy-on-write.ts';
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
  columns: autoscalerColumns,
  // It has fields for what the annotations say.
  setDefaults: (object) => defaultAutoscaler(withAnnotationsOf(object, undefined, [...specAnnotations, ...statusAnnotations])),
  prepareCreate: (object) => ({ ...object, status: { desiredReplicas: 0 } }),
  prepareStatusUpdate: (next) => ({ ...next, status: fill(next.status ?? { desiredReplicas: 0 }, { desiredReplicas: 0 }) }),
  validateCreate: (object) => validateAutoscaler(object, undefined),
  validateUpdate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
});
