import { quote } from '#api/quote.ts';
import { rbacGroup } from '#api/rules/rbac-bindings.ts';
import type { PolicyRule, RoleRef } from '#api/types/rbac-v1.ts';
import type { User } from '../../request/user.ts';
import { type Authorizer, allow, noOpinion, noOpinionBecause, ruleAllows } from '../authorizer.ts';
import { joinedProblems } from '../authorizer-chain.ts';
import type { Grant, GrantIndex } from './grant-index.ts';

/** The rules of a role; undefined when there is no such role. @param namespace of the binding that names it */
export type RoleReader = (role: RoleRef, namespace: string) => readonly PolicyRule[] | undefined;

export interface GrantedRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that are bound and do not exist. */
  readonly missing: readonly RoleRef[];
}

/** Allows what a rule of a role allows that is bound to the user; has no opinion about the rest. */
export function createRbacAuthorizer(grants: GrantIndex, rulesOfRole: RoleReader): Authorizer {
  return {
    decide: (user, access) => {
      const missing: RoleRef[] = [];
      const namespace = access.kind === 'resource' ? access.namespace : '';
      for (const grant of grants.grantsOf(user, namespace)) {
        const rules = rulesOfRole(grant.roleRef, grant.namespace);
        if (rules === undefined) missing.push(grant.roleRef);
        else if (rules.some((rule) => ruleAllows(rule, access))) return allow(`RBAC: allowed by ${grant.source}`);
      }
      return missing.length === 0 ? noOpinion : noOpinionBecause(`RBAC: ${joinedProblems(missing.map(missingRole))}`);
    },
    rulesOf: (user, namespace) => {
      const { rules, missing } = grantedRules(grants, rulesOfRole, user, namespace);
      return { rules, isComplete: true, problems: missing.map(missingRole) };
    },
  };
}

/** Every rule of every role that is bound to the user there. */
export function grantedRules(grants: GrantIndex, rulesOfRole: RoleReader, user: User, namespace: string): GrantedRules {
  // A binding may reach the user by name and by group.
  const byBinding = new Map<string, Grant>();
  for (const grant of grants.grantsOf(user, namespace)) byBinding.set(`${grant.namespace}/${grant.binding}`, grant);
  const all = [...byBinding.values()].map(({ roleRef, namespace: from }) => ({ roleRef, rules: rulesOfRole(roleRef, from) }));
  return {
    rules: all.flatMap(({ rules }) => rules ?? []),
    missing: all.filter(({ rules }) => rules === undefined).map(({ roleRef }) => roleRef),
  };
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${rbacGroup} ${quote(name)} not found`;
}
