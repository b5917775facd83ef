import { type ServiceAccountKeys, TokenSigner } from '#apiserver/service-account-tokens/token-signer.ts';
import type { Clock } from '#base/clock.ts';
import type { ClusterSigning } from '#controllers/controllers.ts';
import { signRequest } from '#pki/sign-request.ts';

export interface ClusterKeys {
  readonly caPem: string;
  /** Read when something is to be signed: most clusters never sign for others. */
  readCaKey(): Promise<string>;
  readonly serviceAccountKeys: ServiceAccountKeys;
  readonly serviceAccountIssuer: string;
}

/** What controllers may sign with the cluster's keys. */
export function createClusterSigning(keys: ClusterKeys, clock: Clock): ClusterSigning {
  let signer: TokenSigner | undefined;
  return {
    token: (claims) => {
      signer ??= new TokenSigner(keys.serviceAccountKeys, keys.serviceAccountIssuer, clock);
      return signer.signLegacy(claims);
    },
    certificate: async (request) => signRequest({ ...request, authority: { certPem: keys.caPem, keyPem: await keys.readCaKey() } }),
  };
}
