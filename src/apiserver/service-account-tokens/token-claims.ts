/** An object that a token names: it ends with it. */
export interface ClaimedObject {
  readonly name: string;
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

export interface TokenClaims {
  readonly id: string;
  readonly audiences: readonly string[];
  readonly kubernetes: KubernetesClaims;
}

/** @returns undefined when it is not the form that we sign */
export function parseKubernetesClaims(value: unknown): KubernetesClaims | undefined {
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
  if (!isRecord(value)) return undefined;
  const { name, uid } = value;
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
