import type { KindRef } from '#api/kind.ts';
import { clusterRole } from '#api/kinds/rbac/v1/cluster-role.ts';
import { clusterRoleBinding } from '#api/kinds/rbac/v1/cluster-role-binding.ts';
import { role } from '#api/kinds/rbac/v1/role.ts';
import { roleBinding } from '#api/kinds/rbac/v1/role-binding.ts';
import type { Binding } from '#api/rules/rbac-bindings.ts';
import type { PolicyRule } from '#api/types/rbac-v1.ts';
import type { IndexedObject } from '../../registry/indexed-object.ts';
import type { Registry } from '../../registry/registry.ts';
import { GrantIndex } from './grant-index.ts';
import type { RoleReader } from './rbac-authorizer.ts';

/** The bindings of a registry by their subjects, kept up to date by its changes for as long as the registry lives. */
export function followBindings(registry: Registry): GrantIndex {
  const grants = new GrantIndex();
  const indexes = [clusterRoleBinding, roleBinding].map((kind) => registry.index(kind));
  const readAll = () => {
    grants.clear();
    for (const index of indexes) for (const entry of index.list('')) grants.add(bindingOf(entry));
  };
  for (const index of indexes) {
    index.subscribe(({ type, object, previous }) => {
      if (previous !== undefined) grants.remove(bindingOf(previous));
      if (type !== 'DELETED') grants.add(bindingOf(object));
    }, readAll);
  }
  readAll();
  return grants;
}

/** Reads rules from the registry's indexes; those of a role's state are parsed once. */
export function roleReaderOf(registry: Registry): RoleReader {
  const parsed = new WeakMap<IndexedObject, readonly PolicyRule[]>();
  const read = (kind: KindRef, namespace: string, name: string) => {
    const index = registry.index(kind);
    const entry = index.get(index.storage.keyOf(namespace, name));
    if (entry === undefined) return undefined;
    const known = parsed.get(entry);
    if (known !== undefined) return known;
    const { rules = [] } = entry.object() as { readonly rules?: readonly PolicyRule[] }; // both kinds of roles have them
    parsed.set(entry, rules);
    return rules;
  };
  return ({ kind, name }, namespace) => (kind === 'ClusterRole' ? read(clusterRole, '', name) : read(role, namespace, name));
}

/** The cast is true because both kinds of bindings have these fields. */
function bindingOf(entry: IndexedObject): Binding {
  return entry.object() as Binding;
}
