import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import type { TokenRequest } from '#api/types/authentication-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import type { ServiceAccountToken, TokensPort, TokenWish } from '../ports/tokens.ts';

export interface TokensDependencies {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1: spreads the refreshes of pods that started together. */
  readonly random: () => number;
}

/** A token is asked for again after 80 % of its life, or after a day, up to 10 s earlier. Source: upstream's token manager. */
const REFRESH_SHARE = 0.8;
const LONGEST_USE_MS = 24 * 3_600_000;
const JITTER_SECONDS = 10;
/** A failed refresh of a token that is still valid is tried again after so long. */
const RETRY_MS = 60_000;

interface Issued {
  readonly token: string;
  readonly expiresAtMs: number;
  readonly refreshAtMs: number;
}

/** No token could be had. */
export class TokenUnavailable extends AppError {
  readonly code = 'TOKEN_UNAVAILABLE';
  readonly retry = 'backoff';
}

/** Tokens by `serviceaccounts/token`, bound to their pod, kept in memory; who asks for one that is on its way waits for the same. */
export function createTokens({ client, clock, logger, random }: TokensDependencies): TokensPort {
  const issued = new Map<string, Issued>();
  const asked = new Map<string, Promise<Issued>>();

  async function request(wish: TokenWish, signal: AbortSignal): Promise<Issued> {
    const { namespace, serviceAccountName: name } = wish;
    const answer = await client.createSubresource<TokenRequest>(serviceAccount, { namespace, name }, 'token', bodyOf(wish), signal);
    const { token, expirationTimestamp } = answer.status ?? {};
    if (token === undefined || expirationTimestamp === undefined) throw new TokenUnavailable({ message: 'the answer has no token' });
    const [nowMs, expiresAtMs] = [clock.now(), Date.parse(expirationTimestamp)];
    const useMs = Math.min(LONGEST_USE_MS, (expiresAtMs - nowMs) * REFRESH_SHARE);
    return { token, expiresAtMs, refreshAtMs: nowMs + useMs - Math.floor(random() * JITTER_SECONDS) * 1000 };
  }

  async function fresh(key: string, wish: TokenWish, signal: AbortSignal): Promise<Issued> {
    const pending = asked.get(key) ?? request(wish, signal).finally(() => asked.delete(key));
    asked.set(key, pending);
    return pending;
  }

  return {
    async token(wish, signal): Promise<ServiceAccountToken> {
      const key = keyOf(wish);
      const known = issued.get(key);
      if (known !== undefined && clock.now() < known.refreshAtMs) return known;
      try {
        const next = await fresh(key, wish, signal);
        issued.set(key, next);
        return next;
      } catch (cause) {
        if (known === undefined) throw new TokenUnavailable({ message: `failed to fetch token: ${messageOf(cause)}`, cause });
        if (clock.now() >= known.expiresAtMs)
          throw new TokenUnavailable({ message: `token ${wish.podUid} expired and refresh failed: ${messageOf(cause)}`, cause });
        logger.warn('a token could not be refreshed, the old one is still valid', { pod: wish.podUid, error: messageOf(cause) });
        return { token: known.token, refreshAtMs: clock.now() + RETRY_MS };
      }
    },
    forget(podUid) {
      for (const key of issued.keys()) if (key.startsWith(`${podUid}/`)) issued.delete(key);
    },
  };
}

function bodyOf({ audience, expirationSeconds, podName, podUid }: TokenWish): TokenRequest & { readonly kind: string; readonly apiVersion: string } {
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: {
      ...(audience === '' ? {} : { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: podName, uid: podUid },
    },
  };
}

function keyOf({ podUid, namespace, serviceAccountName, audience, expirationSeconds }: TokenWish): string {
  return [podUid, namespace, serviceAccountName, expirationSeconds, audience].join('/');
}
