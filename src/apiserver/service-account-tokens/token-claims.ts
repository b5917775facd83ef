/** An object that a token names: it ends with it. */
export interface ClaimedObject {
  readonly name: string;
  /** '' when the object was not there: only a node of a pod's token. */
  readonly uid: string;
}

/** The private part of a service-account token, upstream's form. */
export interface KubernetesClaims {
  readonly namespace: string;
  readonly serviceaccount: ClaimedObject;
  readonly pod?: ClaimedObject;
  readonly node?: ClaimedObject;
  readonly secret?: ClaimedObject;
  /** Seconds since the epoch. */
  readonly warnafter?: number;
}

/** The private part of a token that lies in a Secret. */
export interface LegacyClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUid: string;
}

/** The names of {@link LegacyClaims} in a token. */
export const legacyClaimNames: Readonly<Record<keyof LegacyClaims, string>> = {
  namespace: 'kubernetes.io/serviceaccount/namespace',
  secretName: 'kubernetes.io/serviceaccount/secret.name',
  serviceAccountName: 'kubernetes.io/serviceaccount/service-account.name',
  serviceAccountUid: 'kubernetes.io/serviceaccount/service-account.uid',
};

/** What a token says, its signature aside. Times in seconds since the epoch. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly id: string;
  readonly audiences: readonly string[];
  readonly expiresAt: number | undefined;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
  readonly kubernetes: KubernetesClaims | undefined;
  /** Empty texts where there are none. */
  readonly legacy: LegacyClaims;
}

/** @param payload JSON @returns undefined when it is no object */
export function parseClaims(payload: string): TokenClaims | undefined {
  const claims = parseJson(payload);
  if (!isRecord(claims)) return undefined;
  const { iss, sub, jti, aud, exp, nbf, iat } = claims;
  const textOf = (key: keyof LegacyClaims) => text(claims[legacyClaimNames[key]]);
  return {
    issuer: text(iss),
    subject: text(sub),
    id: text(jti),
    audiences: [aud].flat().filter((audience) => typeof audience === 'string'),
    expiresAt: number(exp),
    notBefore: number(nbf),
    issuedAt: number(iat),
    kubernetes: parseKubernetesClaims(claims['kubernetes.io']),
    legacy: {
      namespace: textOf('namespace'),
      secretName: textOf('secretName'),
      serviceAccountName: textOf('serviceAccountName'),
      serviceAccountUid: textOf('serviceAccountUid'),
    },
  };
}

function parseKubernetesClaims(value: unknown): KubernetesClaims | undefined {
  if (!isRecord(value)) return undefined;
  const { namespace, serviceaccount, pod, node, secret } = value;
  const account = parseObject(serviceaccount);
  if (typeof namespace !== 'string' || account === undefined) return undefined;
  return { namespace, serviceaccount: account, ...named('pod', pod), ...named('node', node), ...named('secret', secret) };
}

function named<Key extends string>(key: Key, value: unknown): { readonly [K in Key]?: ClaimedObject } {
  const object = parseObject(value);
  return object === undefined ? {} : ({ [key]: object } as { readonly [K in Key]?: ClaimedObject }); // a computed key widens to string
}

function parseObject(value: unknown): ClaimedObject | undefined {
  return isRecord(value) && typeof value['name'] === 'string' ? { name: value['name'], uid: text(value['uid']) } : undefined;
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
