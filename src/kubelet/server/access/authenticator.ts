import { createHash } from 'node:crypto';
import type { KindRef } from '#api/kind.ts';
import type { TokenReview } from '#api/types/authentication-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { Client } from '#client/client.ts';
import type { HttpRequest } from '#wire/http/server.ts';
import { AnswersCache } from './answers-cache.ts';
import { anonymous, authenticated, type User } from './user.ts';

export interface AuthenticationSettings {
  readonly anonymous: boolean;
  /** Absent: tokens are not taken. */
  readonly tokens: { readonly cacheMs: number } | undefined;
}

type Sender = Pick<HttpRequest, 'headers' | 'peer'>;

/** Tells who sends a request. @returns undefined for nobody we know */
export type Authenticate = (request: Sender) => Promise<User | undefined>;

/** Certificates first, then tokens, as upstream; a token or certificate that does not hold makes nobody anonymous. */
export function createAuthenticator(client: Pick<Client, 'create'>, settings: AuthenticationSettings, clock: Clock): Authenticate {
  const { tokens } = settings;
  const reviews = new AnswersCache<User | undefined>(clock, () => tokens?.cacheMs ?? 0);
  return async ({ headers, peer }) => {
    if (peer.kind === 'verified' && clock.now() <= peer.validUntilMs) return authenticated(userOf(peer));
    const token = tokens === undefined ? undefined : (bearerToken(headers) ?? webSocketToken(headers));
    if (token !== undefined) return await reviews.get(createHash('sha256').update(token).digest('base64'), (signal) => review(client, token, signal));
    return settings.anonymous && peer.kind === 'none' ? anonymous : undefined;
  };
}

function userOf({ commonName, organizations, uid, fingerprint256 }: Extract<Sender['peer'], { kind: 'verified' }>): User {
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint256}`] };
  return { name: commonName, uid, groups: organizations, extra };
}

function bearerToken(headers: Sender['headers']): string | undefined {
  const [scheme = '', token = ''] = (headers['authorization'] ?? '').trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/** Browsers can set no headers of a WebSocket, so the token comes as one of the protocols that are offered. */
function webSocketToken(headers: Sender['headers']): string | undefined {
  const prefix = 'base64url.bearer.authorization.k8s.io.';
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const encoded = offered.find((protocol) => protocol.startsWith(prefix))?.slice(prefix.length);
  return encoded === undefined || encoded === '' ? undefined : Buffer.from(encoded, 'base64url').toString('utf8');
}

const tokenReview: KindRef<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
};

async function review(client: Pick<Client, 'create'>, token: string, signal: AbortSignal): Promise<User | undefined> {
  const { status } = await client.create(tokenReview, { metadata: {}, spec: { token } }, signal);
  if (status?.authenticated !== true) return undefined;
  const { username = '', uid = '', groups = [], extra = {} } = status.user ?? {};
  return authenticated({ name: username, uid, groups, extra });
}
