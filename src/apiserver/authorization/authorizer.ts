import type { FieldRequirement } from '#api/selector.ts';
import type { User } from '../request/user.ts';

/** What somebody wants to do. A `RequestInfo` is one; reviews ask about others. */
export type Access = ResourceAccess | PathAccess;

export interface ResourceAccess {
  readonly kind: 'resource';
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Of a collection: which of its objects are meant. Absent: all, or it cannot be told. */
  readonly fields?: readonly FieldRequirement[] | undefined;
}

export interface PathAccess {
  readonly kind: 'path';
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  /** The first `allow` or `deny` of a chain of authorizers wins; when none has an opinion the access is refused. */
  readonly verdict: 'allow' | 'deny' | 'no opinion';
  /** For the answer and for reviews; may be empty. */
  readonly reason: string;
  /** What kept the authorizer from knowing all that it should have known; may be empty. */
  readonly problem: string;
}

/** Says who may do what. Asked on the way of every request: it answers from memory. */
export interface Authorizer {
  decide(user: User, access: Access): Decision;
  /** Everything that the user may do in the namespace, for `kubectl auth can-i --list`. */
  rulesOf(user: User, namespace: string): UserRules;
}

export interface UserRules {
  readonly rules: readonly Rule[];
  /** False when the user may do what no rule tells. */
  readonly isComplete: boolean;
  /** What could not be read. */
  readonly problems: readonly string[];
}

/** RBAC's shape: `*` stands for all, `pods/log` for a subresource, a trailing `*` of a path for what follows. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  /** Absent or empty: all names. */
  readonly resourceNames?: readonly string[] | undefined;
  readonly nonResourceURLs?: readonly string[] | undefined;
}

export const noOpinion: Decision = { verdict: 'no opinion', reason: '', problem: '' };

export function allow(reason: string): Decision {
  return { verdict: 'allow', reason, problem: '' };
}

/** An authorizer that leaves the decision to others says why it does not allow. */
export function noOpinionBecause(reason: string, problem = ''): Decision {
  return { verdict: 'no opinion', reason, problem };
}

export function ruleAllows(rule: Rule, access: Access): boolean {
  if (!listed(rule.verbs, access.verb)) return false;
  if (access.kind === 'path') return (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, access.path));
  if (!listed(rule.apiGroups ?? [], access.group) || !resourceMatches(rule.resources ?? [], access)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || names.includes(access.name);
}

function listed(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value);
}

function resourceMatches(allowed: readonly string[], { resource, subresource }: ResourceAccess): boolean {
  if (subresource === '') return listed(allowed, resource);
  return listed(allowed, `${resource}/${subresource}`) || allowed.includes(`*/${subresource}`);
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.replace(/\*+$/, '')) : pattern === path;
}
