import { defineKind } from '#api/kind.ts';
import { bindingColumns, setBindingDefaults, validateBinding, validateBindingUpdate } from '#api/rules/rbac-bindings.ts';
import type { ClusterRoleBinding } from '#api/types/rbac-v1.ts';

export const clusterRoleBinding = defineKind<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  message: 'rbac.v1.ClusterRoleBinding',
  nameRule: 'path-segment',
  createsOnUpdate: true,
  columns: bindingColumns,
  setDefaults: (binding) => setBindingDefaults(binding),
  validate: (binding) => validateBinding(binding, ['ClusterRole'], 'Cluster'),
  validateUpdate: (next, previous) => validateBindingUpdate(next, previous),
});
