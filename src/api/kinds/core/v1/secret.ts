import { defineKind } from '#api/kind.ts';
import type { Secret } from '#api/types/core-v1.ts';

export const secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  message: 'core.v1.Secret',
});
