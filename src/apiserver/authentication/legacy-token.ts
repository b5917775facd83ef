import { secret as secretKind } from '#api/kinds/core/v1/secret.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import type { Secret } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { ObjectReader } from '../request/route.ts';
import { serviceAccountOf, serviceAccountUser } from '../service-account-tokens/service-account-user.ts';
import type { LegacyClaims, TokenClaims } from '../service-account-tokens/token-claims.ts';
import { legacyIssuer, type TokenSigner } from '../service-account-tokens/token-signer.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';

export interface LegacyTokenOptions {
  readonly signer: TokenSigner;
  readonly objects: ObjectReader;
  readonly clock: Clock;
  /** Labels a Secret with the day of its token's last use. Never throws. */
  markUsed(secret: Secret, date: string, signal: AbortSignal): Promise<void>;
}

/** Tokens that lie in Secrets: good as long as the Secret holds them. */
export function createLegacyTokenAuthenticator(options: LegacyTokenOptions): TokenAuthenticator {
  const { signer, objects, clock } = options;
  return async (token, audiences, signal) => {
    const read = await signer.read(token);
    if (read.kind !== 'signed' || read.claims.issuer !== legacyIssuer) return undefined; // a bad signature is told by the other kind
    const granted = signer.audiences.filter((audience) => audiences.includes(audience));
    if (granted.length === 0) return undefined;
    const { legacy } = read.claims;
    const claimProblem = claimsProblem(read.claims);
    if (claimProblem !== undefined) return { rejected: claimProblem };
    const secret = objects.get(secretKind, legacy.namespace, legacy.secretName);
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return { rejected: 'Token has been invalidated' };
    if (textOf(secret, 'token') !== token) return { rejected: "Token does not match server's copy" };
    const problem = accountProblem(legacy, objects);
    if (problem !== undefined) return { rejected: problem };
    const today = new Date(clock.now()).toISOString().slice(0, 10);
    if (secret.metadata.labels?.[lastUsedLabel] !== today) await options.markUsed(secret, today, signal);
    if ((secret.metadata.labels?.[invalidSinceLabel] ?? '') !== '') return { rejected: markedInvalid(legacy) };
    return { user: serviceAccountUser(legacy.namespace, { name: legacy.serviceAccountName, uid: legacy.serviceAccountUid }), audiences: granted };
  };
}

function claimsProblem({ subject, legacy }: TokenClaims): string | undefined {
  const missing = (['namespace', 'secretName', 'serviceAccountName', 'serviceAccountUid'] as const).find((claim) => legacy[claim] === '');
  if (missing !== undefined) return `${missing === 'serviceAccountUid' ? 'serviceAccountUID' : missing} claim is missing`;
  const account = serviceAccountOf(subject);
  return account?.namespace === legacy.namespace && account.name === legacy.serviceAccountName ? undefined : 'sub claim is invalid';
}

function accountProblem({ namespace, serviceAccountName: name, serviceAccountUid: uid }: LegacyClaims, objects: ObjectReader): string | undefined {
  const account = objects.get(serviceAccountKind, namespace, name);
  if (account === undefined) return `serviceaccounts "${name}" not found`;
  if (account.metadata.deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${name} has been deleted`;
  return account.metadata.uid === uid ? undefined : `ServiceAccount UID (${account.metadata.uid}) does not match claim (${uid})`;
}

function markedInvalid({ namespace, secretName, serviceAccountName }: LegacyClaims): string {
  return (
    `the token in secret ${namespace}/${secretName} for service account ${namespace}/${serviceAccountName} has been marked invalid. Use tokens from ` +
    `the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow ` +
    'use of this token'
  );
}

function textOf({ data = {} }: Secret, key: string): string {
  return Buffer.from(data[key] ?? '', 'base64').toString();
}
