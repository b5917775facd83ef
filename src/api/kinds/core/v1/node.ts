import { defineKind } from '#api/kind.ts';
import type { Node } from '#api/types/core-v1.ts';

export const node = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
  message: 'core.v1.Node',
  shortNames: ['no'],
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec?.unschedulable ?? false) },
  subresources: ['status', 'proxy'],
  storagePrefix: 'minions', // upstream's name since nodes were called so
});
