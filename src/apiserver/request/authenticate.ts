import { unauthorized } from '#api/status.ts';
import { type Authenticator, bearerTokenOf, type Credentials } from '../authentication/authenticator.ts';
import { anonymous, type User } from './user.ts';

/**
 * Who a request is from: the first way that knows the user wins. Without any credentials it is nobody in particular.
 *
 * @throws a 401 `StatusError` when there are credentials and nobody takes them
 */
export async function authenticate(ways: readonly Authenticator[], credentials: Credentials): Promise<User> {
  let isRejected = bearerTokenOf(credentials) !== undefined;
  for (const way of ways) {
    const answer = await way(credentials);
    if (answer === undefined) continue;
    if (!('rejected' in answer)) return answer;
    isRejected = true;
  }
  if (isRejected) throw unauthorized();
  return anonymous;
}
