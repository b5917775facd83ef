import type { User } from '../request/user.ts';
import { type Access, type Authorizer, allow, type Decision, noOpinion, noOpinionBecause, type Rule, ruleAllows } from './authorizer.ts';
import { nodes, ownNode } from './built-in-rules.ts';

const nodeUserPrefix = 'system:node:';

/** Fixed rules for nodes. */
export function createBuiltInAuthorizer(): Authorizer {
  return {
    decide: (user, access) => decide(user, access),
    rulesOf: (user) => ({ rules: rulesFor(user), isComplete: true, problems: [] }),
  };
}

function decide(user: User, access: Access): Decision {
  const node = nodeNameOf(user);
  if (node === undefined && user.groups.includes('system:nodes')) return noOpinionBecause(`unknown node for user ${JSON.stringify(user.name)}`);
  if (node !== undefined && access.kind === 'resource' && access.resource === 'leases' && access.namespace !== 'kube-node-lease') {
    return noOpinionBecause('can only access leases in the "kube-node-lease" system namespace');
  }
  return rulesFor(user).some((rule) => ruleAllows(rule, access)) ? allow('') : noOpinion;
}

function rulesFor(user: User): readonly Rule[] {
  const node = nodeNameOf(user);
  return node === undefined ? [] : [...nodes, ...ownNode(node)];
}

function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes('system:nodes') || !user.name.startsWith(nodeUserPrefix)) return undefined;
  return user.name.slice(nodeUserPrefix.length) || undefined;
}
