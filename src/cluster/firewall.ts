/** What the rules of a host say about one cluster. */
export interface FirewallOwner {
  /** Chain of the cluster's own. */
  readonly chain: string;
  /** CNI network name, by which portmap marks its rules. */
  readonly network: string;
}

export interface HostPortRule {
  readonly containerId: string;
  /** The rule as `iptables-save` prints it, without `-A`. */
  readonly rule: string;
  /** The chain that it jumps to, of this container alone. */
  readonly chain: string;
}

/**
 * Packets of pods to other networks leave with the host's address.
 *
 * @param saved what `iptables-save` prints
 * @returns text for `iptables-restore --noflush`, or nothing when the rules are there
 */
export function planMasquerade(saved: string, owner: FirewallOwner, podCIDR: string): string | undefined {
  const lines = natLines(saved);
  const rule = `-A ${owner.chain} -s ${podCIDR} ! -d ${podCIDR} -j MASQUERADE`;
  const jump = jumpTo(owner.chain);
  const own = lines.filter((line) => line.startsWith(`-A ${owner.chain} `));
  const isJumpThere = lines.includes(jump);
  if (isJumpThere && own.length === 1 && own[0] === rule) return undefined;
  return natChange([`:${owner.chain} - [0:0]`, rule, ...(isJumpThere ? [] : [jump])]);
}

/** The same in the other direction, with whatever portmap left behind for the cluster's network. */
export function planRemoval(saved: string, owner: FirewallOwner): string | undefined {
  const lines = natLines(saved);
  const changes = lines.filter((line) => line === jumpTo(owner.chain)).map(deletionOf);
  if (lines.some((line) => line.startsWith(`:${owner.chain} `))) changes.push(`-F ${owner.chain}`, `-X ${owner.chain}`);
  for (const { rule, chain } of hostPortRules(saved, owner.network)) {
    changes.push(`-D ${rule}`);
    if (lines.some((line) => line.startsWith(`:${chain} `))) changes.push(`-F ${chain}`, `-X ${chain}`);
  }
  return changes.length === 0 ? undefined : natChange(changes);
}

/** portmap's entries for the network, one a protocol of a container. Source: the comments it writes. */
export function hostPortRules(saved: string, network: string): readonly HostPortRule[] {
  return natLines(saved).flatMap((line) => {
    const match = /^-A (CNI-HOSTPORT-DNAT .*--comment "dnat name: \\"(.+?)\\" id: \\"([0-9a-f]+)\\"".* -j (CNI-DN-\S+))$/.exec(line);
    if (match === null || match[2] !== network) return [];
    return [{ rule: match[1] ?? '', containerId: match[3] ?? '', chain: match[4] ?? '' }];
  });
}

export interface ClusterChain {
  readonly chain: string;
  readonly isReached: boolean;
}

/** Chains of clusters, whoever they belong to. */
export function clusterChains(saved: string): readonly ClusterChain[] {
  const lines = natLines(saved);
  return lines.flatMap((line) => {
    const chain = /^:(KN-[0-9a-f]{8}) /.exec(line)?.[1];
    return chain === undefined ? [] : [{ chain, isReached: lines.includes(jumpTo(chain)) }];
  });
}

/** Chains of portmap that all networks of a host share. */
export function sharedChains(saved: string): readonly string[] {
  return natLines(saved).flatMap((line) => /^:(CNI-HOSTPORT-[A-Z]+) /.exec(line)?.[1] ?? []);
}

function jumpTo(chain: string): string {
  return `-A POSTROUTING -j ${chain}`;
}

function deletionOf(line: string): string {
  return line.replace(/^-A/, '-D');
}

function natLines(saved: string): readonly string[] {
  const lines = saved.split('\n').map((line) => line.trimEnd());
  const start = lines.indexOf('*nat');
  return start < 0 ? [] : lines.slice(start + 1, lines.indexOf('COMMIT', start));
}

function natChange(lines: readonly string[]): string {
  return `*nat\n${lines.join('\n')}\nCOMMIT\n`;
}
