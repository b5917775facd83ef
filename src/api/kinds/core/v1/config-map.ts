import { defineKind } from '#api/kind.ts';
import type { ConfigMap } from '#api/types/core-v1.ts';

export const configMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
  message: 'core.v1.ConfigMap',
  shortNames: ['cm'],
});
