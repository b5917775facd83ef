import { generateKeyPairSync } from 'node:crypto';

/** Whom a certificate is asked for, and for which names and addresses. */
export interface RequestedNames {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** A new private key, EC P-256, PKCS#8. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return privateKey;
}

/** A request (PKCS#10, PEM) for a certificate of the key, signed with it. */
export async function createCertificateRequest(keyPem: string, names: RequestedNames): Promise<string> {
  const { signOwnRequest } = await import('./sign-certificate.ts'); // the library is loaded when it is needed
  return await signOwnRequest(keyPem, names);
}
