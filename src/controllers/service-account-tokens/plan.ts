import type { Secret, ServiceAccount } from '#api/types/core-v1.ts';

export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';
const NAME_ANNOTATION = 'kubernetes.io/service-account.name';
const UID_ANNOTATION = 'kubernetes.io/service-account.uid';

/** What a token of a Secret says. */
export interface SecretTokenClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUid: string;
}

/** The account that a Secret names; its uid is '' before the Secret was filled. */
export function accountOf({ metadata }: Secret): { readonly name: string; readonly uid: string } {
  return { name: metadata.annotations?.[NAME_ANNOTATION] ?? '', uid: metadata.annotations?.[UID_ANNOTATION] ?? '' };
}

/** Whether the Secret holds, or is to hold, a token of this very account. */
export function isTokenOf(secret: Secret, account: ServiceAccount): boolean {
  const { name, uid } = accountOf(secret);
  return secret.type === TOKEN_SECRET_TYPE && name === account.metadata.name && (uid === '' || uid === account.metadata.uid);
}

export type SecretPlan =
  | { readonly kind: 'nothing' }
  /** Its account is not there. */
  | { readonly kind: 'delete' }
  | { readonly kind: 'fill'; readonly needsToken: boolean };

/** @param account of the Secret's name, undefined when there is none */
export function planSecret(secret: Secret, account: ServiceAccount | undefined, rootCaPem: string): SecretPlan {
  if (account === undefined || !isTokenOf(secret, account)) return { kind: 'delete' };
  const { data = {} } = secret;
  const needsToken = (data['token'] ?? '') === '';
  const needsOthers = data['ca.crt'] !== base64(rootCaPem) || (data['namespace'] ?? '') === '';
  return needsToken || needsOthers ? { kind: 'fill', needsToken } : { kind: 'nothing' };
}

/** @param token absent: the one that is there stays */
export function filled(secret: Secret, account: ServiceAccount, rootCaPem: string, token: string | undefined): Secret {
  const { namespace, annotations } = secret.metadata;
  const data = {
    ...secret.data,
    'ca.crt': base64(rootCaPem),
    namespace: secret.data?.['namespace'] || base64(namespace),
    ...(token === undefined ? {} : { token: base64(token) }),
  };
  const marks = { [NAME_ANNOTATION]: account.metadata.name, [UID_ANNOTATION]: account.metadata.uid };
  return { ...secret, metadata: { ...secret.metadata, annotations: { ...annotations, ...marks } }, data };
}

/** The account without the Secret among those that it lists; undefined when it does not list it. */
export function withoutSecret(account: ServiceAccount, secretName: string): ServiceAccount | undefined {
  const secrets = account.secrets ?? [];
  if (!secrets.some(({ name }) => name === secretName)) return undefined;
  const { secrets: _, ...rest } = account;
  const kept = secrets.filter(({ name }) => name !== secretName);
  return kept.length === 0 ? rest : { ...rest, secrets: kept };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
