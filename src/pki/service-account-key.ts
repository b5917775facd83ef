import { generateKeyPairSync } from 'node:crypto';

export interface ServiceAccountKey {
  /** PKCS#8; signs tokens with ES256. */
  readonly privateKeyPem: string;
  /** SPKI; checks them. */
  readonly publicKeyPem: string;
}

/** A new key pair for service-account tokens, EC P-256: a thousand times faster to make than RSA, and upstream's servers take it. */
export function createServiceAccountKey(): ServiceAccountKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}
