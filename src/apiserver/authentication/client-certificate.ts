import { authenticated } from '../request/user.ts';
import type { Authenticator } from './authenticator.ts';

/** The certificate's common name is the user, its organizations are the groups. */
export const clientCertificateAuthenticator: Authenticator = async ({ certificate }) => {
  if (certificate.kind === 'none') return undefined;
  if (certificate.kind === 'rejected') return { rejected: certificate.problem };
  if (certificate.commonName === '') return undefined;
  return authenticated({
    name: certificate.commonName,
    groups: certificate.organizations,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.fingerprint256}`] },
  });
};
