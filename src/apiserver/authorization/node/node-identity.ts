import type { User } from '../../request/user.ts';

const prefix = 'system:node:';

/** The name of the node that a user is, '' when it says none; undefined when the user is no node. */
export function nodeNameOf(user: User): string | undefined {
  return user.name.startsWith(prefix) && user.groups.includes('system:nodes') ? user.name.slice(prefix.length) : undefined;
}
