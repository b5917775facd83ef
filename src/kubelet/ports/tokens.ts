export interface TokenWish {
  readonly namespace: string;
  readonly serviceAccountName: string;
  readonly podName: string;
  readonly podUid: string;
  /** '' for the API server's own. */
  readonly audience: string;
  readonly expirationSeconds: number;
}

export interface ServiceAccountToken {
  readonly token: string;
  /** Epoch: from here on ask again. */
  readonly refreshAtMs: number;
}

/** Service account tokens that die with their pod. */
export interface TokensPort {
  /** From memory while it is young enough; an old one as long as it is valid when no new one can be had. */
  token(wish: TokenWish, signal: AbortSignal): Promise<ServiceAccountToken>;
  /** Forgets the tokens of a pod. */
  forget(podUid: string): void;
}
