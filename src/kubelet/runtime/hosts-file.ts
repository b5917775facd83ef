import type { Pod } from '#api/types/core-v1.ts';
import type { PodHostname } from './hostname.ts';

const standard = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** /etc/hosts of a pod with its own network. */
export function hostsFile(pod: Pod, podIPs: readonly string[], { hostname, domain }: PodHostname): string {
  const own = podIPs.map((ip) => (domain === '' ? `${ip}\t${hostname}` : `${ip}\t${hostname}.${domain}\t${hostname}`));
  return `${['# Kubernetes-managed hosts file.', ...standard, ...own].join('\n')}\n${aliases(pod)}`;
}

/** /etc/hosts of a pod in the node's network: the node's own file and the pod's aliases. */
export function hostNetworkHostsFile(pod: Pod, nodeFile: string): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${aliases(pod)}`;
}

function aliases(pod: Pod): string {
  const entries = pod.spec?.hostAliases ?? [];
  if (entries.length === 0) return '';
  return `\n# Entries added by HostAliases.\n${entries.map(({ ip, hostnames }) => `${[ip, ...(hostnames ?? [])].join('\t')}\n`).join('')}`;
}
