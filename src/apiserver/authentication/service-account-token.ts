import type { Clock } from '#base/clock.ts';
import type { ObjectReader } from '../request/route.ts';
import type { TokenSigner } from '../service-account-tokens/token-signer.ts';
import { userOfToken } from '../service-account-tokens/token-user.ts';
import { type Authenticator, bearerTokenOf } from './authenticator.ts';

/** Tokens that this cluster issued to its service accounts. */
export function createServiceAccountAuthenticator(signer: TokenSigner, objects: ObjectReader, clock: Clock): Authenticator {
  return async (credentials) => {
    const token = bearerTokenOf(credentials);
    if (token === undefined) return undefined;
    const verified = await signer.verify(token, signer.audiences);
    if (verified.kind === 'foreign') return undefined;
    return verified.kind === 'invalid' ? { rejected: verified.problem } : userOfToken(verified.claims, objects, clock);
  };
}
