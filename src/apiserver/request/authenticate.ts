import { unauthorized } from '#api/status.ts';
import type { Authenticator, Credentials } from '../authentication/authenticator.ts';
import { anonymous, authenticated, type User } from './user.ts';

/**
 * Who a request is from: the first way that knows the user wins. Without any credentials it is nobody in particular.
 *
 * @throws a 401 `StatusError` when there are credentials and nobody takes them
 */
export async function authenticate(ways: readonly Authenticator[], credentials: Credentials, signal: AbortSignal): Promise<User> {
  let isRejected = false;
  for (const way of ways) {
    const answer = await way(credentials, signal);
    if (answer === undefined) continue;
    if (!('rejected' in answer)) return answer.name === anonymous.name ? answer : authenticated(answer);
    isRejected = true;
  }
  if (isRejected) throw unauthorized();
  return anonymous;
}
