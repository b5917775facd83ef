import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import type { HttpRequest } from '#wire/http/server.ts';
import type { KubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import { Refusal } from '../answer.ts';
import { type Authenticate, createAuthenticator } from './authenticator.ts';
import { type Authorize, allowAlways, createAuthorizer } from './authorizer.ts';
import { nodeAttributes } from './node-attributes.ts';
import type { User } from './user.ts';

/** Lets a request in. @throws {Refusal} 401, 403 or 500 in upstream's words */
export type Guard = (request: Pick<HttpRequest, 'method' | 'path' | 'headers' | 'peer'>) => Promise<User>;

export interface GuardParts {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly logger: Logger;
}

export function createGuard({ authenticate, authorize, logger }: GuardParts): Guard {
  return async (request) => {
    const user = await authenticate(request).catch((error: unknown) => {
      logger.warn('who asks could not be found out', { path: request.path, error: messageOf(error) });
      return undefined;
    });
    if (user === undefined) throw new Refusal(401, 'Unauthorized');
    const { verb, subresources } = nodeAttributes(request.method, request.path);
    for (const subresource of subresources) {
      const allowed = await authorize(user, verb, subresource).catch((error: unknown) => {
        logger.warn('what somebody may do could not be found out', { user: user.name, verb, subresource, error: messageOf(error) });
        throw new Refusal(500, `Authorization error (user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource})`);
      });
      if (allowed) return user;
    }
    throw new Refusal(403, `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`);
  };
}

/** The guard that the configuration asks for. */
export function guardOf(configuration: KubeletConfiguration, nodeName: string, client: Client, clock: Clock, logger: Logger): Guard {
  const { authentication, authorization } = configuration;
  const { webhook } = authentication;
  const tokens = webhook.enabled ? { cacheMs: webhook.cacheTTL } : undefined;
  const { cacheAuthorizedTTL: authorizedMs, cacheUnauthorizedTTL: unauthorizedMs } = authorization.webhook;
  return createGuard({
    authenticate: createAuthenticator(client, { anonymous: authentication.anonymous.enabled, tokens }, clock),
    authorize: authorization.mode === 'AlwaysAllow' ? allowAlways : createAuthorizer(client, { nodeName, authorizedMs, unauthorizedMs }, clock),
    logger,
  });
}
