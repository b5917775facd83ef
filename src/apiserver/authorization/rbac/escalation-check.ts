import { deepEqual } from '#api/deep-equal.ts';
import type { KubeObject } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import { type Binding, rbacGroup } from '#api/rules/rbac-bindings.ts';
import { forbidden, notFound, unnamedError } from '#api/status.ts';
import type { ClusterRole, PolicyRule, Role, RoleRef } from '#api/types/rbac-v1.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission/admission.ts';
import { mastersGroup } from '../../request/user.ts';
import type { Authorizer } from '../authorizer.ts';
import { joinedProblems } from '../authorizer-chain.ts';
import type { GrantIndex } from './grant-index.ts';
import { grantedRules, type RoleReader } from './rbac-authorizer.ts';
import { compacted, quotedList, ruleText, uncovered } from './rule-cover.ts';

export interface EscalationCheckOptions {
  /** The whole chain: others than RBAC may allow `bind` and `escalate`. */
  readonly authorizer: Authorizer;
  readonly grants: GrantIndex;
  readonly rulesOfRole: RoleReader;
}

type Check = (request: AdmissionRequest, options: EscalationCheckOptions) => void;

const checks: Readonly<Record<string, Check>> = {
  roles: checkRole,
  clusterroles: checkRole,
  rolebindings: checkBinding,
  clusterrolebindings: checkBinding,
};
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Nobody grants more than he has: who writes a role or a binding must hold what it gives. Sees what other plugins made of the object. */
export function createEscalationCheck(options: EscalationCheckOptions): AdmissionPlugin {
  return {
    name: 'RBAC',
    mutate: (request) => {
      const { kind, operation, subresource, user, object } = request;
      if (kind.group !== rbacGroup || operation === 'DELETE' || subresource !== '' || user.groups.includes(mastersGroup)) return object;
      if (!isForCollector(request)) checks[kind.plural]?.(request, options);
      return object;
    },
  };
}

function checkRole(request: AdmissionRequest, options: EscalationCheckOptions): void {
  const { kind, operation, user, namespace, object, previous } = request;
  const access = { kind: 'resource', verb: 'escalate', group: rbacGroup, resource: kind.plural, subresource: '', namespace } as const;
  // The request to create one names no object.
  const name = operation === 'CREATE' ? '' : request.name;
  if (options.authorizer.decide(user, { ...access, name }).verdict === 'allow') return;
  const role = object as Role | ClusterRole; // the kind's schema has read it
  requireRules(request, role.rules ?? [], options);
  if (!aggregates(role) && !aggregates(previous)) return;
  const { rules } = grantedRules(options.grants, options.rulesOfRole, user, '');
  if (uncovered(rules, everything).length === 0) return;
  throw forbidden(kind, shownName(object), 'must have cluster-admin privileges to use the aggregationRule');
}

function checkBinding(request: AdmissionRequest, options: EscalationCheckOptions): void {
  const { namespace, object } = request;
  const { apiGroup = rbacGroup, kind = '', name = '' } = (object as Binding).roleRef ?? {}; // the kind's schema has read it
  const plural = pluralOf(kind);
  if (plural !== undefined) {
    const access = { kind: 'resource', verb: 'bind', group: apiGroup || rbacGroup, resource: plural, subresource: '', namespace, name } as const;
    if (options.authorizer.decide(request.user, access).verdict === 'allow') return;
  }
  if (plural === undefined) throw unnamedError(`unsupported role reference kind: ${quote(kind)}`);
  const rules = options.rulesOfRole({ kind, name }, namespace);
  if (rules === undefined) throw notFound({ group: rbacGroup, plural }, name);
  requireRules(request, rules, options);
}

function requireRules(request: AdmissionRequest, wanted: readonly PolicyRule[], { grants, rulesOfRole }: EscalationCheckOptions): void {
  const { kind, user, namespace, object } = request;
  const held = grantedRules(grants, rulesOfRole, user, namespace);
  const lacking = uncovered(held.rules, wanted);
  if (lacking.length === 0) return;
  const lines = [...new Set(compacted(lacking).map(ruleText))].sort();
  const unread = held.missing.length === 0 ? '' : `; resolution errors: [${joinedProblems(held.missing.map(missingText))}]`;
  const who = `user ${quote(user.name)} (groups=${quotedList(user.groups)})`;
  const detail = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${unread}`;
  throw forbidden(kind, shownName(object), detail);
}

function missingText({ kind, name }: RoleRef): string {
  return `${pluralOf(kind) ?? kind}.${rbacGroup} ${quote(name)} not found`;
}

function pluralOf(roleKind: string): 'roles' | 'clusterroles' | undefined {
  if (roleKind === 'ClusterRole') return 'clusterroles';
  return roleKind === 'Role' ? 'roles' : undefined;
}

function aggregates(role: KubeObject | undefined): boolean {
  return ((role as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

function shownName({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

/** The garbage collector takes away owners and finalizers of what it could not have created. */
function isForCollector({ object, previous }: AdmissionRequest): boolean {
  return previous !== undefined && deepEqual(withoutCollectorFields(object), withoutCollectorFields(previous));
}

function withoutCollectorFields(object: KubeObject): unknown {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, resourceVersion: _revision, ...metadata } = object.metadata;
  return { ...object, metadata };
}
