import { defineKind } from '#api/kind.ts';
import { bindingColumns, setBindingDefaults, validateBinding, validateBindingUpdate } from '#api/rules/rbac-bindings.ts';
import type { RoleBinding } from '#api/types/rbac-v1.ts';

export const roleBinding = defineKind<RoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  message: 'rbac.v1.RoleBinding',
  nameRule: 'path-segment',
  createsOnUpdate: true,
  columns: bindingColumns,
  setDefaults: (binding) => setBindingDefaults(binding),
  validate: (binding) => validateBinding(binding, ['Role', 'ClusterRole'], 'Namespaced'),
  validateUpdate: (next, previous) => validateBindingUpdate(next, previous),
});
