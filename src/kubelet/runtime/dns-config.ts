import type { Pod } from '#api/types/core-v1.ts';
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
  readonly host: ResolvConf;
}

export interface DnsResult {
  readonly config: DNSConfig;
  /** Texts of `DNSConfigForming` events. */
  readonly warnings: readonly string[];
}

const limits = { servers: 3, searches: 32, searchChars: 2048, entryChars: 253 } as const; // glibc and upstream's validation

export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    const [first] = words;
    if (keyword === 'nameserver' && first !== undefined) servers.push(first);
    else if (keyword === 'search') searches = words.filter((word) => word !== '.').map((word) => word.replace(/\.$/, ''));
    else if (keyword === 'options') for (const option of words) options.set(option.split(':')[0] ?? option, option);
  }
  return { servers, searches, options: [...options.values()] };
}

/** The pod's resolv.conf by its DNS policy, cut to what resolvers can take. */
export function dnsConfigOf(pod: Pod, defaults: DnsDefaults): DnsResult {
  const warnings: string[] = [];
  const base = baseOf(pod, defaults);
  const own = pod.spec?.dnsConfig;
  const options = new Map(base.options.map((option) => [option.split(':')[0] ?? option, option]));
  for (const { name, value } of own?.options ?? [])
    if (name !== undefined) options.set(name, value === undefined || value === '' ? name : `${name}:${value}`);
  const servers = unique([...base.servers, ...(own?.nameservers ?? [])]);
  const searches = unique([...base.searches, ...(own?.searches ?? [])]);
  const keptServers = servers.slice(0, limits.servers);
  if (keptServers.length < servers.length) {
    const line = keptServers.join(' ');
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`;
    warnings.push(message);
  }
  const keptSearches = cutSearches(searches);
  if (keptSearches.length < searches.length) {
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${keptSearches.join(' ')}`;
    warnings.push(message);
  }
  return { config: { servers: keptServers, searches: keptSearches, options: [...options.values()] }, warnings };
}

function baseOf(pod: Pod, defaults: DnsDefaults): ResolvConf {
  const policy = pod.spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const hostsOwn = policy === 'Default' || (policy !== 'ClusterFirstWithHostNet' && pod.spec?.hostNetwork === true);
  if (hostsOwn) return defaults.host;
  if (defaults.clusterDns.length === 0) return defaults.host; // a cluster without DNS is no mistake here: no event for each of its pods
  const domain = defaults.clusterDomain;
  const cluster = domain === '' ? [] : [`${pod.metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain];
  return { servers: defaults.clusterDns, searches: [...cluster, ...defaults.host.searches], options: ['ndots:5'] };
}

function cutSearches(searches: readonly string[]): string[] {
  const kept = searches.slice(0, limits.searches).filter((entry) => entry.length <= limits.entryChars);
  while (kept.join(' ').length > limits.searchChars) kept.pop();
  return kept;
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
