import { defineKind } from '#api/kind.ts';
import type { Namespace } from '#api/types/core-v1.ts';

export const namespace = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
  message: 'core.v1.Namespace',
  shortNames: ['ns'],
  nameRule: 'label',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: ['status', 'finalize'],
  answersDeleteWithObject: true,
});
