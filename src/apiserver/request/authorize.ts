import { accessDenied } from '#api/status.ts';
import type { Access, Authorizer } from '../authorization/authorizer.ts';
import type { User } from './user.ts';

/** @throws a 403 `StatusError` that says what is not allowed */
export function requireAccess(authorizer: Authorizer, user: User, access: Access): void {
  const { verdict, reason } = authorizer.decide(user, access);
  if (verdict === 'allow') return;
  if (access.kind === 'path') throw accessDenied({ user: user.name, verb: access.verb, path: access.path, reason });
  const { group, resource: plural, subresource, namespace, name, verb } = access;
  const resource = { group, plural, subresource, namespace: namespace === '' ? undefined : namespace, name };
  throw accessDenied({ user: user.name, verb, resource, path: '', reason });
}
