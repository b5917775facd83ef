/** What a PKCS#10 request says about its subject. */
export interface CertificateRequestContent {
  /** The last one, '' for none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
}

/**
 * Reads the request of a CertificateSigningRequest. The library for it is loaded with the first one.
 *
 * @param request base64 of a PEM, as `spec.request` has it
 * @returns undefined for what is no request
 */
export async function readCertificateRequest(request: string): Promise<CertificateRequestContent | undefined> {
  const { parseRequest } = await import('./parse-request.ts');
  return parseRequest(Buffer.from(request, 'base64').toString());
}
