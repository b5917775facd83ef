import { labelProblems, subdomainProblems } from '#api/rules/names.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';

/** The spec asks for a name that no host can have. */
export class BadHostname extends AppError {
  readonly code = 'BAD_HOSTNAME';
  readonly retry = 'backoff';
}

export interface PodHostname {
  /** Without the domain; what /etc/hosts has as the short name. */
  readonly hostname: string;
  /** '' without a subdomain. */
  readonly domain: string;
  /** What the kernel is told. */
  readonly kernelName: string;
}

const maxLabel = 63;
const maxKernelName = 64;

/** @throws {BadHostname} */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const spec = pod.spec;
  const override = spec?.hostnameOverride;
  if (override !== undefined) {
    refuse(`pod HostnameOverride "${override}" is not a valid DNS subdomain`, subdomainProblems(override));
    const hostname = cut(override, pod.metadata.name);
    return { hostname, domain: '', kernelName: hostname };
  }
  const asked = spec?.hostname ?? '';
  if (asked !== '') refuse(`pod Hostname "${asked}" is not a valid DNS label`, labelProblems(asked));
  const hostname = cut(asked === '' ? pod.metadata.name : asked, pod.metadata.name);
  const subdomain = spec?.subdomain ?? '';
  if (subdomain === '') return { hostname, domain: '', kernelName: hostname };
  refuse(`pod Subdomain "${subdomain}" is not a valid DNS label`, labelProblems(subdomain));
  const domain = `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
  if (spec?.setHostnameAsFQDN !== true) return { hostname, domain, kernelName: hostname };
  const kernelName = `${hostname}.${domain}`;
  if (kernelName.length > maxKernelName) {
    const told = `(${maxKernelName} characters is the max, ${kernelName.length} characters requested)`;
    throw new BadHostname({ message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${kernelName} is too long ${told}` });
  }
  return { hostname, domain, kernelName };
}

function refuse(what: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new BadHostname({ message: `${what}: ${problems.join(';')}` });
}

/** @throws {BadHostname} when nothing is left */
function cut(hostname: string, podName: string): string {
  if (hostname.length <= maxLabel) return hostname;
  const short = hostname.slice(0, maxLabel).replace(/[-.]+$/, '');
  if (short === '') throw new BadHostname({ message: `hostname for pod "${podName}" was invalid: "${hostname}"` });
  return short;
}
