import type { PathEndpoint } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';
import type { TokenSigner } from './token-signer.ts';

/** Where others find the keys that our tokens are checked with (OpenID Connect discovery). */
export function issuerEndpoints(signer: TokenSigner): readonly PathEndpoint[] {
  const keys = signer.publicKeys();
  const configuration = {
    issuer: signer.issuer,
    jwks_uri: `${signer.issuer}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg = '' }) => alg))].sort(),
  };
  return [
    { matches: (path) => path === '/.well-known/openid-configuration', answer: async () => published(configuration, 'application/json') },
    { matches: (path) => path === '/openid/v1/jwks', answer: async () => published({ keys }, 'application/jwk-set+json') },
  ];
}

function published(document: unknown, contentType: string): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': contentType, 'cache-control': 'public, max-age=3600' },
    body: Buffer.from(JSON.stringify(document)),
  };
}
