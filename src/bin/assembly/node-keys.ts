import { systemClock } from '#base/clock.ts';
import type { KeysPort } from '#kubelet/ports/keys.ts';
import { createAuthority, issueCertificate, YEAR_MS } from '#pki/certificate.ts';
import { createCertificateRequest, createKey } from '#pki/certificate-request.ts';

/** Keys are made where they are used: a kubelet that makes none never loads the certificate library. */
export const nodeKeys: KeysPort = {
  newKey: async () => createKey(),
  request: createCertificateRequest,
  async selfSigned(names) {
    const authority = await createAuthority({ commonName: `${names.commonName}-ca@${Math.floor(systemClock.now() / 1000)}`, clock: systemClock });
    const issued = await issueCertificate({ ...names, authority, usages: 'server', validMs: YEAR_MS, clock: systemClock });
    return { certPem: `${issued.certPem}${authority.certPem}`, keyPem: issued.keyPem };
  },
};
