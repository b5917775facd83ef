import { serviceAccountGroups, serviceAccountUserName, type User } from '../request/user.ts';

/** The user that a service account is. */
export function serviceAccountUser(
  namespace: string,
  account: { readonly name: string; readonly uid: string },
  extra: Readonly<Record<string, readonly string[]>> = {},
): User {
  return { name: serviceAccountUserName(namespace, account.name), uid: account.uid, groups: serviceAccountGroups(namespace), extra };
}

const userForm = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/;

/** @returns undefined when the user is no service account */
export function serviceAccountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = userForm.exec(name) ?? [];
  return namespace === undefined || account === undefined ? undefined : { namespace, name: account };
}
