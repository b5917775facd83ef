import type { User } from '../request/user.ts';

/** What a request brings to say who it is from. */
export interface Credentials {
  readonly certificate: ClientCertificate;
  /** Value of the `Authorization` header, '' when there is none. */
  readonly authorization: string;
}

export type ClientCertificate =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected'; readonly problem: string }
  | { readonly kind: 'verified'; readonly commonName: string; readonly organizations: readonly string[]; readonly fingerprint256: string };

/**
 * One way of saying who one is. `undefined`: these credentials are not for me; a rejection is a reason to answer 401 unless another way
 * knows the user.
 */
export type Authenticator = (credentials: Credentials) => Promise<User | RejectedCredentials | undefined>;

export interface RejectedCredentials {
  readonly rejected: string;
}

export function bearerTokenOf(credentials: Credentials): string | undefined {
  const match = /^bearer +(\S+)$/i.exec(credentials.authorization.trim());
  return match?.[1];
}
