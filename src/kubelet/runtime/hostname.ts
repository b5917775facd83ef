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
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** @throws {BadHostname} */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const spec = pod.spec;
  const override = spec?.hostnameOverride;
  if (override !== undefined) {
    if (!dnsSubdomain.test(override)) throw new BadHostname({ message: `pod HostnameOverride "${override}" is not a valid DNS subdomain` });
    const hostname = cut(override);
    return { hostname, domain: '', kernelName: hostname };
  }
  const asked = spec?.hostname ?? '';
  if (asked !== '' && !isLabel(asked)) throw new BadHostname({ message: `pod Hostname "${asked}" is not a valid DNS label` });
  const hostname = cut(asked === '' ? pod.metadata.name : asked);
  const subdomain = spec?.subdomain ?? '';
  if (subdomain === '') return { hostname, domain: '', kernelName: hostname };
  if (!isLabel(subdomain)) throw new BadHostname({ message: `pod Subdomain "${subdomain}" is not a valid DNS label` });
  const domain = `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
  if (spec?.setHostnameAsFQDN !== true) return { hostname, domain, kernelName: hostname };
  const kernelName = `${hostname}.${domain}`;
  if (kernelName.length > maxKernelName) {
    const told = `(${maxKernelName} characters is the max, ${kernelName.length} characters requested)`;
    throw new BadHostname({ message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${kernelName} is too long ${told}` });
  }
  return { hostname, domain, kernelName };
}

function isLabel(text: string): boolean {
  return text.length <= maxLabel && dnsLabel.test(text);
}

/** @throws {BadHostname} when nothing is left */
function cut(hostname: string): string {
  if (hostname.length <= maxLabel) return hostname;
  const short = hostname.slice(0, maxLabel).replace(/[-.]+$/, '');
  if (short === '') throw new BadHostname({ message: `hostname for pod "${hostname}" was invalid` });
  return short;
}
