import { defineKind } from '#api/kind.ts';
import type { PriorityClass } from '#api/types/scheduling-v1.ts';

export const priorityClass = defineKind<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
  message: 'scheduling.v1.PriorityClass',
  shortNames: ['pc'],
  generation: 'one',
});
