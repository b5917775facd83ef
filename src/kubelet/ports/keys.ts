/** Whom a certificate stands for, and where it serves. */
export interface CertificateNames {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export interface KeyAndCertificate {
  /** May be a chain. */
  readonly certPem: string;
  readonly keyPem: string;
}

/** Makes keys, and what is signed with them. */
export interface KeysPort {
  /** A new private key, PEM. */
  newKey(): Promise<string>;
  /** PKCS#10, PEM: what a signer is asked for. @throws {InvalidInput} for an address that is none */
  request(keyPem: string, names: CertificateNames): Promise<string>;
  /** A new key and a certificate of a year that only it vouches for. */
  selfSigned(names: CertificateNames): Promise<KeyAndCertificate>;
}
