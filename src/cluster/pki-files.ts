import type { Clock } from '#base/clock.ts';
import { type Authority, createAuthority, issueCertificate, YEAR_MS } from '#pki/certificate.ts';
import { type CertificateSubject, type ClusterCertificateName, type ClusterIdentity, clusterCertificates } from '#pki/cluster-certificates.ts';
import { kubeconfig } from '#pki/kubeconfig.ts';
import { certificateCovers, isIssuedBy, needsRenewal } from '#pki/renewal.ts';
import { createServiceAccountKey } from '#pki/service-account-key.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import type { HostFiles } from './ports/files.ts';

/** Where the keys and certificates of a cluster lie; all of them PEM, mode 0600. */
export interface PkiFiles {
  readonly caCert: string;
  readonly caKey: string;
  /** Signs service-account tokens. */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  cert(name: ClusterCertificateName): string;
  key(name: ClusterCertificateName): string;
}

export function pkiFiles(paths: Pick<ClusterPaths, 'pkiDir'>): PkiFiles {
  const { pkiDir } = paths;
  return {
    caCert: `${pkiDir}/ca.crt`,
    caKey: `${pkiDir}/ca.key`,
    serviceAccountKey: `${pkiDir}/service-account.key`,
    serviceAccountPublicKey: `${pkiDir}/service-account.pub`,
    cert: (name) => `${pkiDir}/${name}.crt`,
    key: (name) => `${pkiDir}/${name}.key`,
  };
}

export interface PkiRequest {
  readonly identity: ClusterIdentity;
  readonly clusterName: string;
  /** `https://host:port` */
  readonly server: string;
}

/**
 * Makes what is missing, about to expire, or not good for this host any more; the rest stays as it is. Kubeconfigs are written anew when
 * they differ: the server's port may have changed.
 */
export async function ensurePki(files: HostFiles, paths: ClusterPaths, request: PkiRequest, clock: Clock): Promise<void> {
  await files.ensureDirectory(paths.pkiDir, 0o700);
  const names = pkiFiles(paths);
  const authority = await ensureAuthority(files, names, request.clusterName, clock);
  const subjects = Object.entries(clusterCertificates(request.identity)) as [ClusterCertificateName, CertificateSubject][]; // its keys are these
  await Promise.all([
    ensureServiceAccountKey(files, names),
    ...subjects.map(([name, subject]) => ensureCertificate(files, names, { name, subject }, authority, clock)),
  ]);
  await Promise.all([
    ensureKubeconfig(files, names, request, { certificate: 'admin', user: 'kubernetes-admin', path: paths.adminKubeconfig }),
    ensureKubeconfig(files, names, request, {
      certificate: 'kubelet-client',
      user: `system:node:${request.identity.nodeName}`,
      path: paths.kubeletKubeconfig,
    }),
  ]);
}

async function ensureAuthority(files: HostFiles, names: PkiFiles, clusterName: string, clock: Clock): Promise<Authority> {
  const [certPem, keyPem] = await Promise.all([files.readText(names.caCert), files.readText(names.caKey)]);
  if (certPem !== undefined && keyPem !== undefined) return { certPem, keyPem };
  const authority = await createAuthority({ commonName: `kubernode-ca-${clusterName}`, clock });
  await files.write(names.caKey, authority.keyPem, 0o600);
  await files.write(names.caCert, authority.certPem, 0o600); // last: a certificate that is there has its key
  return authority;
}

async function ensureServiceAccountKey(files: HostFiles, names: PkiFiles): Promise<void> {
  if (await files.exists(names.serviceAccountPublicKey)) return;
  const key = createServiceAccountKey();
  await files.write(names.serviceAccountKey, key.privateKeyPem, 0o600);
  await files.write(names.serviceAccountPublicKey, key.publicKeyPem, 0o600);
}

async function ensureCertificate(
  files: HostFiles,
  names: PkiFiles,
  wanted: { readonly name: ClusterCertificateName; readonly subject: CertificateSubject },
  authority: Authority,
  clock: Clock,
): Promise<void> {
  const [certPath, keyPath] = [names.cert(wanted.name), names.key(wanted.name)];
  const present = await files.readText(certPath);
  const isGood =
    present !== undefined &&
    (await files.exists(keyPath)) &&
    isIssuedBy(present, authority.certPem) &&
    !needsRenewal(present, clock.now()) &&
    certificateCovers(present, wanted.subject);
  if (isGood) return;
  const issued = await issueCertificate({ ...wanted.subject, authority, validMs: YEAR_MS, clock });
  await files.write(keyPath, issued.keyPem, 0o600);
  await files.write(certPath, issued.certPem, 0o600);
}

async function ensureKubeconfig(
  files: HostFiles,
  names: PkiFiles,
  request: PkiRequest,
  wanted: { readonly certificate: ClusterCertificateName; readonly user: string; readonly path: string },
): Promise<void> {
  const [caPem, certPem, keyPem, present] = await Promise.all([
    files.readText(names.caCert),
    files.readText(names.cert(wanted.certificate)),
    files.readText(names.key(wanted.certificate)),
    files.readText(wanted.path),
  ]);
  if (caPem === undefined || certPem === undefined || keyPem === undefined)
    throw new Error(`the certificate ${wanted.certificate} is missing after it was made`);
  const content = kubeconfig({ server: request.server, caPem, certPem, keyPem, clusterName: `kubernode-${request.clusterName}`, user: wanted.user });
  if (content !== present) await files.write(wanted.path, content, 0o600);
}
