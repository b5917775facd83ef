import type { User } from '../request/user.ts';

/** What a request brings to say who it is from. */
export interface Credentials {
  readonly certificate: ClientCertificate;
  /** Value of the `Authorization` header, '' when there is none. */
  readonly authorization: string;
  /** What a request that becomes a WebSocket offers to speak; a token may be among it. Empty for all others. */
  readonly protocols: readonly string[];
  /** `X-Remote-*`: name in lower case, value; a name may come several times. */
  readonly remoteHeaders: readonly (readonly [string, string])[];
}

export type ClientCertificate =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: string }
  | {
      readonly kind: 'verified';
      readonly commonName: string;
      readonly organizations: readonly string[];
      readonly uid: string;
      readonly fingerprint256: string;
      readonly validUntilMs: number;
      readonly authorities: readonly ('client' | 'proxy')[];
    };

/**
 * One way of saying who one is. `undefined`: these credentials are not for me; a rejection is a reason to answer 401 unless another way
 * knows the user. The group of everybody authenticated is added by whoever asks.
 */
export type Authenticator = (credentials: Credentials, signal: AbortSignal) => Promise<User | RejectedCredentials | undefined>;

export interface RejectedCredentials {
  readonly rejected: string;
}
