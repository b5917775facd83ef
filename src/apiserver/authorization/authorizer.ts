import type { User } from '../request/user.ts';

/** What somebody wants to do. A `RequestInfo` is one; reviews ask about others. */
export type Access =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

export interface Decision {
  readonly isAllowed: boolean;
  /** For the answer and for reviews; may be empty. */
  readonly reason: string;
}

/** Says who may do what. What it does not allow is denied. */
export interface Authorizer {
  decide(user: User, access: Access): Decision;
  /** Everything that the user may do in the namespace, for `kubectl auth can-i --list`. */
  rulesOf(user: User, namespace: string): readonly Rule[];
}

/** RBAC's shape: `*` stands for all, `pods/log` for a subresource, a trailing `*` of a path for what follows. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** Absent: all names. */
  readonly resourceNames?: readonly string[];
  readonly paths?: readonly string[];
}

export function ruleAllows(rule: Rule, access: Access): boolean {
  if (!listed(rule.verbs, access.verb)) return false;
  if (access.kind === 'path') return (rule.paths ?? []).some((path) => pathMatches(path, access.path));
  if (!listed(rule.apiGroups ?? [], access.group) || !resourceMatches(rule.resources ?? [], access)) return false;
  return rule.resourceNames === undefined || rule.resourceNames.includes(access.name);
}

function listed(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value);
}

function resourceMatches(allowed: readonly string[], access: Extract<Access, { kind: 'resource' }>): boolean {
  const full = access.subresource === '' ? access.resource : `${access.resource}/${access.subresource}`;
  return allowed.some((entry) => entry === '*' || entry === full || (access.subresource !== '' && entry === `*/${access.subresource}`));
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
