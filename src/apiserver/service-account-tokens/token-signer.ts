import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { errors, type JWK, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '#base/clock.ts';
import { type KubernetesClaims, parseKubernetesClaims, type TokenClaims } from './token-claims.ts';

export interface ServiceAccountKeys {
  /** PKCS#8, RSA or EC P-256. */
  readonly privateKeyPem: string;
  /** SPKI. */
  readonly publicKeyPem: string;
}

export interface TokenRequest {
  readonly audiences: readonly string[];
  readonly expiresAtSeconds: number;
  readonly kubernetes: KubernetesClaims;
}

export type VerifiedToken =
  | { readonly kind: 'valid'; readonly claims: TokenClaims }
  /** Not a token of this issuer: somebody else may know it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'invalid'; readonly problem: string };

const leewaySeconds = 60;

/** Signs service-account tokens and checks their signature, issuer, audience and time. */
export class TokenSigner {
  readonly issuer: string;
  /** What tokens for this API server are for. */
  readonly audiences: readonly string[];
  readonly #clock: Clock;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #algorithm: 'RS256' | 'ES256';
  readonly #keyId: string;

  constructor(keys: ServiceAccountKeys, issuer: string, clock: Clock) {
    this.issuer = issuer;
    this.audiences = [issuer];
    this.#clock = clock;
    this.#privateKey = createPrivateKey(keys.privateKeyPem);
    this.#publicKey = createPublicKey(keys.publicKeyPem);
    this.#algorithm = this.#publicKey.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
    this.#keyId = createHash('sha256')
      .update(this.#publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
  }

  async sign(request: TokenRequest): Promise<string> {
    const nowSeconds = Math.floor(this.#clock.now() / 1000);
    const { namespace, serviceaccount } = request.kubernetes;
    return new SignJWT({ 'kubernetes.io': request.kubernetes })
      .setProtectedHeader({ alg: this.#algorithm, kid: this.#keyId })
      .setIssuer(this.issuer)
      .setSubject(`system:serviceaccount:${namespace}:${serviceaccount.name}`)
      .setAudience([...request.audiences])
      .setIssuedAt(nowSeconds)
      .setNotBefore(nowSeconds)
      .setExpirationTime(request.expiresAtSeconds)
      .setJti(randomUUID())
      .sign(this.#privateKey);
  }

  async verify(token: string, audiences: readonly string[]): Promise<VerifiedToken> {
    try {
      const currentDate = new Date(this.#clock.now());
      const { payload } = await jwtVerify(token, this.#publicKey, { algorithms: [this.#algorithm], clockTolerance: leewaySeconds, currentDate });
      if (payload.iss !== this.issuer) return { kind: 'foreign' };
      const granted = (Array.isArray(payload.aud) ? payload.aud : [payload.aud ?? '']).filter((audience) => audiences.includes(audience));
      if (granted.length === 0)
        return invalid(`token audiences ${JSON.stringify(payload.aud)} is invalid for the target audiences ${JSON.stringify(audiences)}`);
      const kubernetes = parseKubernetesClaims(payload['kubernetes.io']);
      if (kubernetes === undefined) return invalid('service account token has no claims of Kubernetes');
      return { kind: 'valid', claims: { id: payload.jti ?? '', audiences: granted, kubernetes } };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return invalid('service account token has expired');
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') return invalid('service account token is not valid yet');
      if (error instanceof errors.JWSSignatureVerificationFailed) return invalid('invalid signature, no keys found');
      if (error instanceof errors.JOSEError) return { kind: 'foreign' }; // no JWT, or with another algorithm
      throw error;
    }
  }

  /** The public key as a JSON web key, for `/openid/v1/jwks`. */
  publicKey(): JWK {
    return { ...this.#publicKey.export({ format: 'jwk' }), use: 'sig', kid: this.#keyId, alg: this.#algorithm };
  }
}

function invalid(problem: string): VerifiedToken {
  return { kind: 'invalid', problem };
}
