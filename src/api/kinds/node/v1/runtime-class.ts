import { defineKind } from '#api/kind.ts';
import type { RuntimeClass } from '#api/types/node-v1.ts';

export const runtimeClass = defineKind<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  message: 'node.v1.RuntimeClass',
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,
});
