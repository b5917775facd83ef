import { defineKind } from '#api/kind.ts';
import type { Binding } from '#api/types/core-v1.ts';

/** Never stored: a pod gets its node by it. */
export const binding = defineKind<Binding>({
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  scope: 'Namespaced',
  message: 'core.v1.Binding',
  verbs: ['create'],
});
