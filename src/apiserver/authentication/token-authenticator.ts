import type { User } from '../request/user.ts';
import type { RejectedCredentials } from './authenticator.ts';

export interface TokenUser {
  readonly user: User;
  /** Those of the audiences asked for that the token is for. */
  readonly audiences: readonly string[];
}

/**
 * One kind of token. `undefined`: not a token of mine; a rejection is the word of the kind that knows it.
 *
 * @param audiences whom the token must be for, at least one of them; never empty
 */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
  signal: AbortSignal,
) => Promise<TokenUser | RejectedCredentials | undefined>;

export const unknownToken = 'invalid bearer token';

/** All kinds of tokens as one: the first that knows the token wins. */
export function firstOf(kinds: readonly TokenAuthenticator[]): TokenAuthenticator {
  return async (token, audiences, signal) => {
    const problems: string[] = [];
    for (const kind of kinds) {
      const answer = await kind(token, audiences, signal);
      if (answer === undefined) continue;
      if (!('rejected' in answer)) return answer;
      problems.push(answer.rejected);
    }
    return problems.length === 0 ? undefined : { rejected: joined(problems) };
  };
}

/** Several problems as one text, upstream's form. */
export function joined(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}

/** A kind of token that knows nothing of audiences is for the API server alone. */
export function forApiServer(
  apiAudiences: readonly string[],
  userOf: (token: string, signal: AbortSignal) => Promise<User | undefined>,
): TokenAuthenticator {
  return async (token, audiences, signal) => {
    const granted = apiAudiences.filter((audience) => audiences.includes(audience));
    if (granted.length === 0) return undefined;
    const user = await userOf(token, signal);
    return user === undefined ? undefined : { user, audiences: granted };
  };
}
