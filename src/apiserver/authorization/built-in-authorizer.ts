import { anonymous, authenticatedGroup, mastersGroup, type User } from '../request/user.ts';
import { type Access, type Authorizer, type Decision, type Rule, ruleAllows } from './authorizer.ts';
import { controllerManager, everybody, everybodyAuthenticated, nodes, ownNode, scheduler, serviceAccounts } from './built-in-rules.ts';

const nodeUserPrefix = 'system:node:';
const all: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], paths: ['*'] },
];

/** Fixed rules for the parts of a cluster; RBAC will stand behind the same port. Everything else is denied. */
export function createBuiltInAuthorizer(): Authorizer {
  return {
    decide: (user, access) => decide(user, access),
    rulesOf: (user) => rulesFor(user),
  };
}

function decide(user: User, access: Access): Decision {
  const node = nodeNameOf(user);
  if (node === undefined && user.groups.includes('system:nodes'))
    return { isAllowed: false, reason: `unknown node for user ${JSON.stringify(user.name)}` };
  if (node !== undefined && access.kind === 'resource' && access.resource === 'leases' && access.namespace !== 'kube-node-lease') {
    return { isAllowed: false, reason: 'can only access leases in the "kube-node-lease" system namespace' };
  }
  return { isAllowed: rulesFor(user).some((rule) => ruleAllows(rule, access)), reason: '' };
}

function rulesFor(user: User): readonly Rule[] {
  if (user.groups.includes(mastersGroup)) return all;
  if (user.name === anonymous.name || !user.groups.includes(authenticatedGroup)) return everybody;
  return [...everybodyAuthenticated, ...rolesOf(user)];
}

function rolesOf(user: User): readonly Rule[] {
  const node = nodeNameOf(user);
  if (node !== undefined) return [...nodes, ...ownNode(node)];
  if (user.name === 'system:kube-scheduler') return scheduler;
  if (user.name === 'system:kube-controller-manager') return controllerManager;
  return user.groups.includes('system:serviceaccounts') ? serviceAccounts : [];
}

function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes('system:nodes') || !user.name.startsWith(nodeUserPrefix)) return undefined;
  return user.name.slice(nodeUserPrefix.length) || undefined;
}
