import type { Kind } from '#api/kind.ts';
import { secret as secretKind } from '#api/kinds/core/v1/secret.ts';
import type { KubeObject } from '#api/object.ts';
import type { Secret } from '#api/types/core-v1.ts';
import type { ServerContext } from '../request/context.ts';
import { authenticated, mastersGroup, type User } from '../request/user.ts';
import { internalWriter } from '../request/writer.ts';
import { updateObject } from '../verbs/update-object.ts';
import type { Authenticator } from './authenticator.ts';
import { createBearerAuthenticator, createWebSocketAuthenticator } from './bearer-token.ts';
import { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
import { createCertificateAuthenticator } from './client-certificate.ts';
import { createLegacyTokenAuthenticator, lastUsedLabel } from './legacy-token.ts';
import { createRequestHeaderAuthenticator } from './request-header.ts';
import { createServiceAccountAuthenticator } from './service-account-token.ts';
import { createStaticTokenAuthenticator } from './static-token.ts';
import { firstOf, type TokenAuthenticator } from './token-authenticator.ts';

export interface AuthenticationOptions {
  readonly staticTokens: ReadonlyMap<string, Pick<User, 'name'> & Partial<User>>;
  /** Whether certificates of front proxies are taken, and of which; empty: of all that their authority signed. */
  readonly frontProxyNames: readonly string[] | undefined;
}

export interface Authentication {
  /** In the order in which they are asked. */
  readonly ways: readonly Authenticator[];
  /** All kinds of tokens. */
  readonly tokens: TokenAuthenticator;
}

/** How this server learns who its clients are. */
export function createAuthentication(context: ServerContext, options: AuthenticationOptions): Authentication {
  const { objects, clock, tokens: signer } = context;
  const { audiences } = signer;
  const tokens = firstOf([
    createStaticTokenAuthenticator(options.staticTokens, audiences),
    createLegacyTokenAuthenticator({ signer, objects, clock, markUsed: (secret, date, signal) => markUsed(context, secret, date, signal) }),
    createServiceAccountAuthenticator(signer, objects, clock),
    createBootstrapTokenAuthenticator(objects, clock, audiences),
  ]);
  const { frontProxyNames } = options;
  const ways = [
    ...(frontProxyNames === undefined ? [] : [createRequestHeaderAuthenticator(frontProxyNames, clock)]),
    createCertificateAuthenticator(clock),
    createBearerAuthenticator(tokens, audiences),
    createWebSocketAuthenticator(tokens, audiences),
  ];
  return { ways, tokens };
}

const self = authenticated({ name: 'system:apiserver', groups: [mastersGroup] });

async function markUsed(context: ServerContext, secret: Secret, date: string, signal: AbortSignal): Promise<void> {
  const { name, namespace = '' } = secret.metadata;
  const kind: Kind = context.registry.index(secretKind).storage.kind;
  const change = (current: KubeObject) => ({
    ...current,
    metadata: { ...current.metadata, resourceVersion: '', labels: { ...current.metadata.labels, [lastUsedLabel]: date } },
  });
  try {
    await updateObject(context, { kind, namespace, name, subresource: '', writer: internalWriter(self), change }, signal);
  } catch (error) {
    context.logger.warn('the use of a token cannot be noted', { namespace, name, error }); // the token is good all the same
  }
}
