/** Who a request comes from. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** Members may do everything, before any authorizer is asked. */
export const mastersGroup = 'system:masters';

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: [unauthenticatedGroup], extra: {} };

/** A user with the group that everybody authenticated has. */
export function authenticated(user: Pick<User, 'name'> & Partial<User>): User {
  const groups = user.groups ?? [];
  return {
    name: user.name,
    uid: user.uid ?? '',
    groups: groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup],
    extra: user.extra ?? {},
  };
}

export function serviceAccountUserName(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}

/** Beside `system:authenticated`. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
