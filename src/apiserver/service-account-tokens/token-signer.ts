import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { compactVerify, errors, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Clock } from '#base/clock.ts';
import { serviceAccountUserName } from '../request/user.ts';
import { type KubernetesClaims, type LegacyClaims, legacyClaimNames, parseClaims, type TokenClaims } from './token-claims.ts';

export interface ServiceAccountKeys {
  /** PKCS#8, RSA or EC P-256. */
  readonly privateKeyPem: string;
  /** SPKI. */
  readonly publicKeyPem: string;
  /** SPKI: of keys that signed before this one did. */
  readonly olderPublicKeyPems?: readonly string[] | undefined;
}

export interface TokenRequest {
  readonly audiences: readonly string[];
  readonly expiresAtSeconds: number;
  readonly kubernetes: KubernetesClaims;
}

export type SignedToken =
  | { readonly kind: 'signed'; readonly claims: TokenClaims }
  /** Not a token of this issuer: somebody else may know it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Who issues the tokens that lie in Secrets. */
export const legacyIssuer = 'kubernetes/serviceaccount';

/** Kubelets and controllers send the same few tokens again and again; a signature that was good stays good. */
const keptTokens = 2_048;

interface PublicKey {
  readonly id: string;
  readonly algorithm: 'RS256' | 'ES256';
  readonly key: KeyObject;
}

/** Signs service-account tokens and checks their signatures. */
export class TokenSigner {
  readonly issuer: string;
  /** What tokens for this API server are for. */
  readonly audiences: readonly string[];
  /** Tokens that are asked for live no longer than this; undefined: as long as they are asked for. */
  readonly maxSeconds: number | undefined;
  readonly #clock: Clock;
  readonly #privateKey: KeyObject;
  readonly #own: PublicKey;
  readonly #keys: readonly PublicKey[];
  /** By the token's hash, so that no token is kept; the one that was used last is the last. */
  readonly #read = new Map<string, TokenClaims>();

  constructor(keys: ServiceAccountKeys, issuer: string, clock: Clock, maxSeconds?: number) {
    this.issuer = issuer;
    this.audiences = [issuer];
    this.maxSeconds = maxSeconds;
    this.#clock = clock;
    this.#privateKey = createPrivateKey(keys.privateKeyPem);
    this.#own = publicKeyOf(keys.publicKeyPem);
    this.#keys = [this.#own, ...(keys.olderPublicKeyPems ?? []).map(publicKeyOf)];
  }

  async sign(request: TokenRequest): Promise<string> {
    const { namespace, serviceaccount } = request.kubernetes;
    const nowSeconds = Math.floor(this.#clock.now() / 1000);
    const claims = {
      'kubernetes.io': withoutEmptyUid(request.kubernetes),
      aud: [...request.audiences],
      exp: request.expiresAtSeconds,
      jti: randomUUID(),
    };
    return this.#signed({
      ...claims,
      iss: this.issuer,
      sub: serviceAccountUserName(namespace, serviceaccount.name),
      iat: nowSeconds,
      nbf: nowSeconds,
    });
  }

  /** A token without an end, for a Secret. */
  async signLegacy(claims: LegacyClaims): Promise<string> {
    const named = Object.entries(claims).map(([key, value]) => [legacyClaimNames[key as keyof LegacyClaims], value] as const); // its keys are these
    return this.#signed({
      iss: legacyIssuer,
      sub: serviceAccountUserName(claims.namespace, claims.serviceAccountName),
      ...Object.fromEntries(named),
    });
  }

  /** What the token says, if one of our keys signed it. Its times are not looked at. */
  async read(token: string): Promise<SignedToken> {
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.#read.get(hash);
    if (known !== undefined) {
      this.#remember(hash, known);
      return { kind: 'signed', claims: known };
    }
    const parts = token.split('.');
    const claims = parts.length === 3 ? parseClaims(Buffer.from(parts[1] ?? '', 'base64url').toString()) : undefined;
    if (claims === undefined || (claims.issuer !== this.issuer && claims.issuer !== legacyIssuer)) return { kind: 'foreign' };
    const problem = await this.#signatureProblem(token, parts[0] ?? '');
    if (problem === 'foreign') return { kind: 'foreign' };
    if (problem !== undefined) return { kind: 'invalid', problem };
    this.#remember(hash, claims);
    return { kind: 'signed', claims };
  }

  /** The public keys as JSON web keys, for `/openid/v1/jwks`. */
  publicKeys(): readonly JWK[] {
    return this.#keys.map(({ id, algorithm, key }) => ({ use: 'sig', ...key.export({ format: 'jwk' }), kid: id, alg: algorithm }));
  }

  #signed(payload: JWTPayload): Promise<string> {
    return new SignJWT(payload).setProtectedHeader({ alg: this.#own.algorithm, kid: this.#own.id }).sign(this.#privateKey);
  }

  async #signatureProblem(token: string, header: string): Promise<string | undefined> {
    const id = keyIdOf(header);
    const keys = id === '' ? this.#keys : this.#keys.filter((key) => key.id === id);
    let problem: string | undefined = 'invalid signature, no keys found';
    for (const { key, algorithm } of keys) {
      problem = await problemWith(token, key, algorithm);
      if (problem === undefined) break;
    }
    return problem;
  }

  #remember(hash: string, claims: TokenClaims): void {
    this.#read.delete(hash);
    this.#read.set(hash, claims);
    const [oldest] = this.#read.keys();
    if (this.#read.size > keptTokens && oldest !== undefined) this.#read.delete(oldest);
  }
}

async function problemWith(token: string, key: KeyObject, algorithm: string): Promise<string | undefined> {
  try {
    await compactVerify(token, key, { algorithms: ['RS256', 'ES256'] });
    return undefined;
  } catch (error) {
    if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JWSInvalid) return 'foreign';
    if (error instanceof errors.JOSEError || error instanceof TypeError) return 'go-jose/go-jose: error in cryptographic primitive'; // or a key of another kind
    throw new Error(`a signature with ${algorithm} cannot be checked`, { cause: error });
  }
}

function withoutEmptyUid({ node, ...claims }: KubernetesClaims): object {
  if (node === undefined) return claims;
  return { ...claims, node: node.uid === '' ? { name: node.name } : node };
}

function keyIdOf(header: string): string {
  try {
    const { kid }: { readonly kid?: unknown } = JSON.parse(Buffer.from(header, 'base64url').toString());
    return typeof kid === 'string' ? kid : '';
  } catch {
    return ''; // no header: the check of the signature says so
  }
}

function publicKeyOf(pem: string): PublicKey {
  const key = createPublicKey(pem);
  const id = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { id, key, algorithm: key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256' };
}
