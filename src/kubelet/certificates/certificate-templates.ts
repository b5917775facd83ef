import { X509Certificate } from 'node:crypto';
import type { NodeAddress } from '#api/types/core-v1.ts';
import type { CertificateNames } from '../ports/keys.ts';

/** What a certificate is asked for. */
export interface CertificateTemplate {
  readonly names: CertificateNames;
  readonly signerName: string;
  readonly usages: readonly string[];
}

/** The certificate that the kubelet shows to the API server. */
export function clientTemplate(nodeName: string): CertificateTemplate {
  return {
    names: { ...nodeIdentity(nodeName), dnsNames: [], ipAddresses: [] },
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'], // 'key encipherment' is for RSA keys
  };
}

/** The certificate that the kubelet's server shows. @returns `undefined` while the node has no address to be reached under */
export function servingTemplate(nodeName: string, addresses: readonly NodeAddress[]): CertificateTemplate | undefined {
  const of = (...types: readonly string[]) => [...new Set(addresses.filter(({ type }) => types.includes(type)).map(({ address }) => address.trim()))];
  const ipAddresses = of('InternalIP', 'ExternalIP').sort();
  const dnsNames = of('Hostname', 'InternalDNS', 'ExternalDNS')
    .filter((name) => name !== '')
    .sort();
  if (ipAddresses.length === 0 && dnsNames.length === 0) return undefined;
  return {
    names: { ...nodeIdentity(nodeName), dnsNames, ipAddresses },
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
  };
}

/** Whether a certificate says what the template asks for; one with more names will do. */
export function isWhatIsWanted(certPem: string, { names }: CertificateTemplate): boolean {
  const certificate = new X509Certificate(certPem);
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<Record<string, string | string[]>>; // Node's types say text
  return (
    [subject['CN']].flat().includes(names.commonName) &&
    names.organizations.every((organization) => [subject['O']].flat().includes(organization)) &&
    names.dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
    names.ipAddresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/**
 * When a certificate is to be replaced: after 70 to 90 % of its life, so that the kubelets of a cluster do not ask all at once.
 *
 * @param random 0 <= n < 1
 */
export function renewalTimeMs(certPem: string, random: number): number {
  const certificate = new X509Certificate(certPem);
  const fromMs = Date.parse(certificate.validFrom);
  return fromMs + (Date.parse(certificate.validTo) - fromMs) * (0.7 + 0.2 * random);
}

export function isValidAt(certPem: string, nowMs: number): boolean {
  const certificate = new X509Certificate(certPem);
  return Date.parse(certificate.validFrom) <= nowMs && nowMs < Date.parse(certificate.validTo);
}

function nodeIdentity(nodeName: string): Pick<CertificateNames, 'commonName' | 'organizations'> {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
}
