import type { Authenticator, Credentials, RejectedCredentials } from './authenticator.ts';
import { type TokenAuthenticator, unknownToken } from './token-authenticator.ts';

/** The token of the `Authorization` header. */
export function createBearerAuthenticator(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return async ({ authorization }, signal) => {
    const token = bearerTokenOf(authorization);
    return token === undefined ? undefined : userOf(token, tokens, audiences, signal);
  };
}

/** A browser cannot set headers of a WebSocket: its token comes as a protocol beside the one that it wants to speak. */
export function createWebSocketAuthenticator(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return async ({ protocols }, signal) => {
    const found = tokenAmong(protocols);
    return typeof found === 'string' ? userOf(found, tokens, audiences, signal) : found;
  };
}

async function userOf(token: string, tokens: TokenAuthenticator, audiences: readonly string[], signal: AbortSignal): ReturnType<Authenticator> {
  const answer = await tokens(token, audiences, signal);
  if (answer === undefined) return { rejected: unknownToken };
  return 'rejected' in answer ? answer : answer.user;
}

/** As upstream parts it: with a second space in between there is no token, and the header says nothing. */
function bearerTokenOf(authorization: Credentials['authorization']): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';
const base64Url = /^[A-Za-z0-9_-]*$/;

function tokenAmong(protocols: readonly string[]): string | RejectedCredentials | undefined {
  const encoded = protocols.filter((protocol) => protocol.startsWith(tokenProtocol)).map((protocol) => protocol.slice(tokenProtocol.length));
  const [first] = encoded;
  if (first === undefined) return undefined;
  if (encoded.length > 1) return { rejected: 'multiple base64.bearer.authorization tokens specified' };
  if (!base64Url.test(first) || first.length % 4 === 1) return { rejected: 'invalid base64.bearer.authorization token encoding' };
  const bytes = Buffer.from(first, 'base64url');
  const token = bytes.toString();
  if (!Buffer.from(token).equals(bytes)) return { rejected: 'invalid base64.bearer.authorization token' };
  if (token === '') return undefined;
  // One protocol must be left to answer with.
  return protocols.length === 1 ? { rejected: 'missing additional subprotocol' } : token;
}
