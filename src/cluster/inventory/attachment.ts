/** What the CNI library remembers of one sandbox on one network. */
export interface Attachment {
  readonly file: string;
  readonly network: string;
  readonly containerId: string;
  /** The sandbox's end of the pair is inside `netns`; these are the host's. */
  readonly hostLinks: readonly string[];
  readonly netns: string | undefined;
  /** Without prefix length. */
  readonly addresses: readonly string[];
}

/** Source: the CNI library's cache files, `cniCacheV1`. @returns nothing for a file that is none of them */
export function parseAttachment(file: string, text: string): Attachment | undefined {
  const cache = parseJson(text);
  const { networkName, containerId } = cache;
  if (typeof networkName !== 'string' || typeof containerId !== 'string') return undefined;
  const result = asRecord(cache['result']);
  const interfaces = asList(result['interfaces']).map(asRecord);
  return {
    file,
    network: networkName,
    containerId,
    hostLinks: interfaces.flatMap(({ name, sandbox }) => (typeof name === 'string' && (sandbox === undefined || sandbox === '') ? [name] : [])),
    netns: interfaces.map(({ sandbox }) => sandbox).find((sandbox): sandbox is string => typeof sandbox === 'string' && sandbox !== ''),
    addresses: asList(result['ips']).flatMap((ip) => {
      const { address } = asRecord(ip);
      return typeof address === 'string' ? [address.replace(/\/.*/, '')] : [];
    }),
  };
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
