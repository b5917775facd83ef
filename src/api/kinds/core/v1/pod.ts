import { defineKind } from '#api/kind.ts';
import type { Pod } from '#api/types/core-v1.ts';

export const pod = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  message: 'core.v1.Pod',
  shortNames: ['po'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status', 'binding', 'eviction', 'log', 'exec', 'attach', 'portforward', 'proxy'],
  answersDeleteWithObject: true,
});
