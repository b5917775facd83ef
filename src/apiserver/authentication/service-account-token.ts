import { quote } from '#api/quote.ts';
import type { Clock } from '#base/clock.ts';
import type { ObjectReader } from '../request/route.ts';
import { legacyIssuer, type TokenSigner } from '../service-account-tokens/token-signer.ts';
import { timeProblem, userOfToken } from '../service-account-tokens/token-user.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/** Tokens that this cluster issued to its service accounts. */
export function createServiceAccountAuthenticator(signer: TokenSigner, objects: ObjectReader, clock: Clock): TokenAuthenticator {
  return async (token, audiences) => {
    const read = await signer.read(token);
    if (read.kind === 'foreign') return undefined;
    if (read.kind === 'invalid') return { rejected: read.problem };
    const { claims } = read;
    if (claims.issuer === legacyIssuer) return undefined;
    const of = claims.audiences.length === 0 ? signer.audiences : claims.audiences;
    const granted = of.filter((audience) => audiences.includes(audience));
    if (granted.length === 0) {
      return { rejected: `token audiences ${quotedList(of)} is invalid for the target audiences ${quotedList(audiences)}` };
    }
    const problem = timeProblem(claims, clock);
    if (problem !== undefined) return { rejected: problem };
    if (claims.kubernetes === undefined) return { rejected: 'service account token claims could not be validated' };
    const user = userOfToken(claims.id, claims.kubernetes, objects, clock);
    return 'rejected' in user ? user : { user, audiences: granted };
  };
}

function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`;
}
