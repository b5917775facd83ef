import { quote } from '#api/quote.ts';
import type { Binding } from '#api/rules/rbac-bindings.ts';
import type { RoleRef, Subject } from '#api/types/rbac-v1.ts';
import { serviceAccountUserName, type User } from '../../request/user.ts';

/** What one binding gives to one of its subjects. */
export interface Grant {
  readonly roleRef: RoleRef;
  readonly binding: string;
  /** Of the binding; '' for one of the whole cluster. */
  readonly namespace: string;
  /** Names binding, role and subject in upstream's words. */
  readonly source: string;
}

/** By user or group, then by binding. */
type Grants = Map<string, Map<string, Grant>>;

interface Scope {
  readonly ofUsers: Grants;
  readonly ofGroups: Grants;
}

/** All bindings by their subjects: what a user is granted is found without looking at what others are. */
export class GrantIndex {
  /** By the namespace of the binding. */
  readonly #scopes = new Map<string, Scope>();

  add(binding: Binding): void {
    const { namespace = '', name } = binding.metadata;
    const scope = this.#scopes.get(namespace) ?? { ofUsers: new Map(), ofGroups: new Map() };
    this.#scopes.set(namespace, scope);
    for (const subject of binding.subjects ?? []) {
      const at = placeOf(subject, namespace, scope);
      if (at === undefined) continue;
      const known = at.grants.get(at.key) ?? new Map<string, Grant>();
      at.grants.set(at.key, known);
      if (!known.has(name)) known.set(name, { roleRef: binding.roleRef, binding: name, namespace, source: sourceOf(binding, subject) });
    }
  }

  remove(binding: Binding): void {
    const { namespace = '', name } = binding.metadata;
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    for (const subject of binding.subjects ?? []) {
      const at = placeOf(subject, namespace, scope);
      const known = at?.grants.get(at.key);
      if (known?.delete(name) === true && known.size === 0) at?.grants.delete(at.key);
    }
    if (scope.ofUsers.size === 0 && scope.ofGroups.size === 0) this.#scopes.delete(namespace);
  }

  clear(): void {
    this.#scopes.clear();
  }

  /** Those of the whole cluster first. @param namespace '' for what is in none */
  *grantsOf(user: User, namespace: string): Generator<Grant, void, void> {
    yield* grantsIn(this.#scopes.get(''), user);
    if (namespace !== '') yield* grantsIn(this.#scopes.get(namespace), user);
  }
}

function* grantsIn(scope: Scope | undefined, user: User): Generator<Grant, void, void> {
  if (scope === undefined) return;
  yield* scope.ofUsers.get(user.name)?.values() ?? [];
  for (const group of user.groups) yield* scope.ofGroups.get(group)?.values() ?? [];
}

function placeOf(subject: Subject, namespace: string, scope: Scope): { readonly grants: Grants; readonly key: string } | undefined {
  switch (subject.kind) {
    case 'User':
      return { grants: scope.ofUsers, key: subject.name };
    case 'Group':
      return { grants: scope.ofGroups, key: subject.name };
    case 'ServiceAccount': {
      const home = subject.namespace || namespace;
      return home === '' ? undefined : { grants: scope.ofUsers, key: serviceAccountUserName(home, subject.name) };
    }
    default:
      return undefined;
  }
}

/** Upstream puts the name before the namespace. */
function sourceOf({ kind, metadata, roleRef }: Binding, subject: Subject): string {
  const { namespace = '' } = metadata;
  const binding = namespace === '' ? metadata.name : `${metadata.name}/${namespace}`;
  const to = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${kind} ${quote(binding)} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(to)}`;
}
