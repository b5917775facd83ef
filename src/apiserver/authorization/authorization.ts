import type { AdmissionPlugin } from '../admission/admission.ts';
import type { Registry } from '../registry/registry.ts';
import type { Authorizer } from './authorizer.ts';
import { createAuthorizerChain } from './authorizer-chain.ts';
import { createEscalationCheck } from './rbac/escalation-check.ts';
import { createRbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { followBindings, roleReaderOf } from './rbac/rbac-objects.ts';

export interface Authorization {
  readonly authorizer: Authorizer;
  /** Keeps those who write roles and bindings from giving more than they have; it has to see what other plugins make of them. */
  readonly escalationCheck: AdmissionPlugin;
}

/** RBAC over a registry's roles and bindings, after the authorizers that are asked before it. */
export function createAuthorization(registry: Registry, before: readonly Authorizer[]): Authorization {
  const grants = followBindings(registry);
  const rulesOfRole = roleReaderOf(registry);
  const authorizer = createAuthorizerChain([...before, createRbacAuthorizer(grants, rulesOfRole)]);
  return { authorizer, escalationCheck: createEscalationCheck({ authorizer, grants, rulesOfRole }) };
}
