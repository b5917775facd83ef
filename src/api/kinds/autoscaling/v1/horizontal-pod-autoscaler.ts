import { autoscalerColumns } from '#api/autoscaler/columns.ts';
import { autoscalerFromV1, autoscalerToV1, specAnnotations, statusAnnotations, withAnnotationsOf } from '#api/autoscaler/convert-v1.ts';
import { defineKind } from '#api/kind.ts';
import { validateAutoscaler, validateAutoscalerStatus } from '#api/rules/autoscaler/autoscaler.ts';
import type { HorizontalPodAutoscaler } from '#api/types/autoscaling-v1.ts';
import type { HorizontalPodAutoscaler as StoredAutoscaler } from '#api/types/autoscaling-v2.ts';

/** The older form of autoscaling/v2: what it has no field for stands in annotations. */
export const horizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  scope: 'Namespaced',
  message: 'autoscaling.v1.HorizontalPodAutoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  subresources: ['status'],
  storedAs: {
    kind: () => ({ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', scope: 'Namespaced' }),
    fromStored: (stored) => autoscalerToV1(stored as StoredAutoscaler), // the kind says what it is
    toStored: autoscalerFromV1,
  },
  columns: autoscalerColumns.map((column) => ({
    ...column,
    cell: (object: HorizontalPodAutoscaler, nowMs: number) => column.cell(autoscalerFromV1(object), nowMs),
  })),
  setDefaults: (object) => autoscalerToV1(autoscalerFromV1(object)),
  prepareCreate: (object) => ({
    ...withAnnotationsOf(object, undefined, statusAnnotations),
    status: { currentReplicas: 0, desiredReplicas: 0 },
  }),
  prepareUpdate: (next, previous) => withAnnotationsOf(next, previous, statusAnnotations),
  prepareStatusUpdate: (next, previous) => withAnnotationsOf(next, previous, specAnnotations),
  validateCreate: (object) => validateAutoscaler(autoscalerFromV1(object), undefined),
  validateUpdate: (next, previous) => validateAutoscaler(autoscalerFromV1(next), autoscalerFromV1(previous)),
  validateStatusUpdate: (object) => validateAutoscalerStatus(autoscalerFromV1(object)),
});
