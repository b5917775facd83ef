import type { Pod } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import type { DNSConfig } from '#wire/generated/cri.ts';

export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface DnsDefaults {
  /** '' when the cluster has none. */
  readonly clusterDomain: string;
  readonly clusterDns: readonly string[];
  /** Else a pod that asks for it and gets the node's own is not warned. */
  readonly expectsClusterDns: boolean;
  readonly host: ResolvConf;
}

export interface DnsWarning {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS';
  readonly message: string;
}

export interface DnsResult {
  readonly config: DNSConfig;
  readonly warnings: readonly DnsWarning[];
}

/** The node's resolv.conf cannot be used. */
export class BadResolvConf extends AppError {
  readonly code = 'BAD_RESOLV_CONF';
  readonly retry = 'backoff';
}

export const dnsLimits = { servers: 3, searches: 32, searchChars: 2048, entryChars: 253 } as const; // glibc and upstream's validation
export const missingClusterDns =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

/** @throws {BadResolvConf} */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    const [first] = words;
    if (keyword === 'nameserver') {
      if (first === undefined)
        throw new BadResolvConf({ message: 'Encountered error while parsing resolv conf file. Error: nameserver list is empty ' });
      servers.push(first);
    } else if (keyword === 'search') searches = words.filter((word) => word !== '.').map((word) => word.replace(/\.$/, ''));
    else if (keyword === 'options') for (const option of words) options.set(option.split(':')[0] ?? option, option);
  }
  return { servers, searches, options: [...options.values()] };
}

/** The pod's resolv.conf by its DNS policy, cut to what resolvers can take. */
export function dnsConfigOf(pod: Pod, defaults: DnsDefaults): DnsResult {
  const warnings: DnsWarning[] = [];
  const isMissing = asksCluster(pod) && defaults.clusterDns.length === 0;
  if (isMissing && defaults.expectsClusterDns) warnings.push({ reason: 'MissingClusterDNS', message: missingClusterDns });
  const base = isMissing ? defaults.host : baseOf(pod, defaults);
  const own = pod.spec?.dnsConfig;
  const options = new Map(base.options.map((option) => [option.split(':')[0] ?? option, option]));
  for (const { name, value } of own?.options ?? [])
    if (name !== undefined) options.set(name, value === undefined || value === '' ? name : `${name}:${value}`);
  const servers = unique([...base.servers, ...(own?.nameservers ?? [])]);
  const searches = unique([...base.searches, ...(own?.searches ?? [])]);
  const keptServers = servers.slice(0, dnsLimits.servers);
  if (keptServers.length < servers.length) {
    const line = keptServers.join(' ');
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`;
    warnings.push({ reason: 'DNSConfigForming', message });
  }
  const keptSearches = cutSearches(searches);
  if (keptSearches.length < searches.length) {
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${keptSearches.join(' ')}`;
    warnings.push({ reason: 'DNSConfigForming', message });
  }
  return { config: { servers: keptServers, searches: keptSearches, options: [...options.values()] }, warnings };
}

/** By its policy, an unknown one too, the pod is to ask the cluster's DNS. */
function asksCluster({ spec }: Pod): boolean {
  const policy = spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None' || policy === 'Default') return false;
  return policy === 'ClusterFirstWithHostNet' || spec?.hostNetwork !== true;
}

function baseOf(pod: Pod, defaults: DnsDefaults): ResolvConf {
  if (pod.spec?.dnsPolicy === 'None') return { servers: [], searches: [], options: [] };
  if (!asksCluster(pod)) return defaults.host;
  const domain = defaults.clusterDomain;
  const cluster = domain === '' ? [] : [`${pod.metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain];
  return { servers: defaults.clusterDns, searches: [...cluster, ...defaults.host.searches], options: ['ndots:5'] };
}

function cutSearches(searches: readonly string[]): string[] {
  const kept = searches.slice(0, dnsLimits.searches).filter((entry) => entry.length <= dnsLimits.entryChars);
  while (kept.join(' ').length > dnsLimits.searchChars) kept.pop();
  return kept;
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
