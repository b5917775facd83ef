import { defineKind } from '#api/kind.ts';
import { validatePolicyRules } from '#api/rules/rbac-roles.ts';
import type { Role } from '#api/types/rbac-v1.ts';

export const role = defineKind<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  message: 'rbac.v1.Role',
  nameRule: 'path-segment',
  createsOnUpdate: true,
  validate: ({ rules }) => validatePolicyRules(rules, 'Namespaced'),
});
