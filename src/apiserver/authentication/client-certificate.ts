import type { Clock } from '#base/clock.ts';
import type { Authenticator } from './authenticator.ts';

/** The certificate's common name is the user, its organizations are the groups. */
export function createCertificateAuthenticator(clock: Clock): Authenticator {
  return async ({ certificate }) => {
    if (certificate.kind === 'none') return undefined;
    if (certificate.kind === 'rejected') return { rejected: certificate.problem };
    if (!certificate.authorities.includes('client')) return { rejected: 'x509: certificate signed by unknown authority' };
    if (certificate.validUntilMs < clock.now()) return { rejected: 'x509: certificate has expired or is not yet valid' };
    if (certificate.commonName === '') return undefined;
    return {
      name: certificate.commonName,
      uid: certificate.uid,
      groups: certificate.organizations,
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.fingerprint256}`] },
    };
  };
}
