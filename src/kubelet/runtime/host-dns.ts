import type { FilesPort } from '../ports/files.ts';
import { BadResolvConf, type DnsDefaults, dnsLimits, parseResolvConf, type ResolvConf } from './dns-config.ts';

export interface HostDnsOptions {
  readonly files: Pick<FilesPort, 'read'>;
  /** The node's file; '' for none: the node itself is asked. */
  readonly resolvConf: string;
  readonly nodeAddress: string;
  readonly clusterDomain: string;
  readonly clusterDns: readonly string[];
  readonly expectsClusterDns: boolean;
}

/** What pods get from the node's resolv.conf. */
export interface HostDns {
  /** Reads the file again: a node that moves to another network tells its next pods. @throws {BadResolvConf} */
  read(signal: AbortSignal): Promise<DnsDefaults>;
  /** @returns what is wrong with the file for pods, for an event of the node */
  problem(signal: AbortSignal): Promise<string | undefined>;
}

const maxBytes = 10 * 1024 * 1024;
/** Of the cluster's own search domains. */
const clusterSearches = 3;

export function createHostDns({ files, resolvConf, nodeAddress, clusterDomain, clusterDns, expectsClusterDns }: HostDnsOptions): HostDns {
  const host = async (signal: AbortSignal): Promise<ResolvConf> => {
    if (resolvConf === '') return { servers: [nodeAddress.includes(':') ? '::1' : '127.0.0.1'], searches: [], options: [] };
    return parseResolvConf(await textOf(files, resolvConf, signal));
  };
  return {
    read: async (signal) => ({ clusterDomain, clusterDns, expectsClusterDns, host: await host(signal) }),
    async problem(signal) {
      if (resolvConf === '') return undefined;
      try {
        return searchProblem((await host(signal)).searches, resolvConf, dnsLimits.searches - (clusterDomain === '' ? 0 : clusterSearches));
      } catch (error) {
        if (error instanceof BadResolvConf) return error.message;
        throw error;
      }
    },
  };
}

async function textOf(files: Pick<FilesPort, 'read'>, path: string, signal: AbortSignal): Promise<string> {
  const bytes = await files.read(path, signal);
  if (bytes === undefined) throw new BadResolvConf({ message: `open ${path}: no such file or directory`, hint: 'set resolvConf of the kubelet' });
  return new TextDecoder().decode(bytes.subarray(0, maxBytes));
}

function searchProblem(searches: readonly string[], path: string, max: number): string | undefined {
  if (searches.length > max) return `Resolv.conf file '${path}' contains search line consisting of more than ${max} domains!`;
  if (searches.some((one) => one.length > dnsLimits.entryChars))
    return `Resolv.conf file "${path}" contains a search path which length is more than allowed ${dnsLimits.entryChars} chars!`;
  if (searches.join(' ').length > dnsLimits.searchChars)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${dnsLimits.searchChars} chars!`;
  return undefined;
}
