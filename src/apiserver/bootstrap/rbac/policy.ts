import { apiVersionOf, type Kind } from '#api/kind.ts';
import { clusterRole } from '#api/kinds/rbac/v1/cluster-role.ts';
import { clusterRoleBinding } from '#api/kinds/rbac/v1/cluster-role-binding.ts';
import { role } from '#api/kinds/rbac/v1/role.ts';
import { roleBinding } from '#api/kinds/rbac/v1/role-binding.ts';
import type { NewObject } from '#api/object.ts';
import { rbacGroup } from '#api/rules/rbac-bindings.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '#api/types/rbac-v1.ts';
import { clusterBindings, namespaceRoles, rolesOfBindings } from './bindings.ts';
import { controllerRoles } from './controller-roles.ts';
import { systemRoles } from './system-roles.ts';
import { aggregatedRoles, partsOfRoles, userRoles } from './user-roles.ts';

export const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate';

/** The roles and bindings that every cluster has, as they are to be created. */
export interface Policy {
  readonly clusterRoles: readonly NewObject<ClusterRole>[];
  readonly clusterRoleBindings: readonly NewObject<ClusterRoleBinding>[];
  readonly roles: readonly NewObject<Role>[];
  readonly roleBindings: readonly NewObject<RoleBinding>[];
}

export function bootstrapPolicy(): Policy {
  const controllers = Object.entries(controllerRoles).map(([name, rules]) => [`system:controller:${name}`, rules] as const);
  const rulesByRole = [...Object.entries(userRoles), ...Object.entries(systemRoles), ...controllers];
  return {
    clusterRoles: rulesByRole.map(([name, rules]) => newClusterRole(name, rules)),
    clusterRoleBindings: Object.entries(clusterBindings).map(([name, subjects]) => ({
      ...typeOf(clusterRoleBinding),
      metadata: metadataOf(name),
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: rolesOfBindings[name] ?? name },
      ...(subjects.length === 0 ? {} : { subjects }),
    })),
    roles: namespaceRoles.map(({ name, namespace, rules }) => ({ ...typeOf(role), metadata: metadataOf(name, namespace), rules })),
    roleBindings: namespaceRoles.map(({ name, namespace, binding = name, subjects }) => ({
      ...typeOf(roleBinding),
      metadata: metadataOf(binding, namespace),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects,
    })),
  };
}

const aggregation = (to: string) => ({ [`rbac.authorization.k8s.io/aggregate-${to}`]: 'true' });

function newClusterRole(name: string, rules: readonly PolicyRule[]): NewObject<ClusterRole> {
  const [from, to] = [aggregatedRoles[name], partsOfRoles[name]];
  const metadata = metadataOf(name);
  return {
    ...typeOf(clusterRole),
    metadata: to === undefined ? metadata : { ...metadata, labels: { ...metadata.labels, ...aggregation(to) } },
    ...(from === undefined ? { rules } : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregation(from) }] } }),
  };
}

function metadataOf(name: string, namespace?: string) {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
    annotations: { [autoUpdateAnnotation]: 'true' },
  };
}

function typeOf(kind: Pick<Kind, 'group' | 'version' | 'kind'>) {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}
