import { X509Certificate } from 'node:crypto';

/** Upstream's kubelet renews between 70 and 90 % of the lifetime, at random; one cluster's certificates need not be spread. */
const RENEW_AFTER = 0.8;

/** Whether a certificate has used up four fifths of its time, or all of it. */
export function needsRenewal(certPem: string, nowMs: number): boolean {
  const certificate = new X509Certificate(certPem);
  const fromMs = Date.parse(certificate.validFrom);
  const untilMs = Date.parse(certificate.validTo);
  return nowMs >= fromMs + (untilMs - fromMs) * RENEW_AFTER;
}

/** Whether a serving certificate is good for all of these names and addresses: a host's addresses change while its files stay. */
export function certificateCovers(
  certPem: string,
  names: { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] },
): boolean {
  const certificate = new X509Certificate(certPem);
  return (
    names.dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
    names.ipAddresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** Whether `certPem` was signed by the authority whose certificate is `authorityCertPem`. */
export function isIssuedBy(certPem: string, authorityCertPem: string): boolean {
  const authority = new X509Certificate(authorityCertPem);
  const certificate = new X509Certificate(certPem);
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
