import type { CertificateRequestContent } from './certificate-request.ts';

const nodePrefix = 'system:node:';

/** What is wrong with a request for a kubelet's certificate as a client, undefined when nothing is. */
export function kubeletClientProblem(content: CertificateRequestContent, usages: readonly string[]): string | undefined {
  if (!isOfNodes(content)) return 'subject organization is not system:nodes';
  if (content.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!content.commonName.startsWith(nodePrefix)) return `subject common name does not begin with ${nodePrefix}`;
  return usagesProblem(usages, 'client auth');
}

/** What is wrong with a request for a kubelet's certificate as a server, undefined when nothing is. */
export function kubeletServingProblem(content: CertificateRequestContent, usages: readonly string[]): string | undefined {
  if (!isOfNodes(content)) return 'subject organization is not system:nodes';
  if (content.dnsNames.length === 0 && content.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  const problem = usagesProblem(usages, 'server auth');
  if (problem !== undefined) return problem;
  return content.commonName.startsWith(nodePrefix) ? undefined : `subject common name does not begin with ${nodePrefix}`;
}

function isOfNodes({ organizations }: CertificateRequestContent): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

/** Keys that are not RSA encipher no other keys. */
function usagesProblem(usages: readonly string[], purpose: string): string | undefined {
  const given = new Set(usages);
  const least = ['digital signature', purpose];
  const most = [...least, 'key encipherment'];
  const isRight = least.every((usage) => given.has(usage)) && [...given].every((usage) => most.includes(usage));
  return isRight ? undefined : `usages did not match [${most.sort().join(' ')}]`;
}
