import { clusterNames, type FoundCluster, findCluster, isLive } from '../find-clusters.ts';
import { clusterChains } from '../firewall.ts';
import { hostNames } from '../host-names.ts';
import { gatherHostObjects } from '../inventory/host-objects.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { type AuditEntry, auditEntries, sharedEntries } from './audit-entries.ts';
import { findLivingOwners } from './living-owners.ts';

export interface AuditOptions {
  /** Absent: all clusters, and leftovers of none. */
  readonly name?: string | undefined;
  readonly dataDir?: string | undefined;
}

export interface AuditReport {
  /** Names that something was found of. */
  readonly clusters: readonly string[];
  readonly entries: readonly AuditEntry[];
  /** Those of the entries that nobody owns. */
  readonly leftovers: readonly AuditEntry[];
}

const lookAgainAfterMs = 400;
const looks = 4;

/**
 * Lists every object that clusters have on this host. A pod that is starting or going has objects before the runtime tells of it, and after:
 * so what seems to be left over is looked at again before it is reported.
 */
export async function audit(options: AuditOptions, host: ClusterHost, signal: AbortSignal): Promise<AuditReport> {
  for (let look = 1; ; look += 1) {
    const report = await auditOnce(options, host, signal);
    if (report.leftovers.length === 0 || look === looks) return report;
    await host.clock.sleep(lookAgainAfterMs, signal);
  }
}

async function auditOnce(options: AuditOptions, host: ClusterHost, signal: AbortSignal): Promise<AuditReport> {
  const names = options.name === undefined ? await namesOnHost(host) : [options.name];
  const found = await Promise.all(names.map((name) => auditCluster(name, options.dataDir, host, signal)));
  const existing = found.filter(
    ({ cluster, entries }) => isLive(cluster) || cluster.hasRunDir || cluster.settings !== undefined || entries.length > 0,
  );
  const rules = host.isRoot ? await host.network.rules(signal) : '';
  const entries = [
    ...existing.flatMap((one) => one.entries),
    ...sharedEntries(rules),
    ...(options.name === undefined && host.isRoot ? await anonymousLeftovers(names, rules, host) : []),
  ];
  return {
    clusters: existing.map(({ cluster }) => cluster.names.name),
    entries,
    leftovers: entries.filter(({ owner }) => owner === undefined),
  };
}

async function auditCluster(
  name: string,
  dataDir: string | undefined,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<{ readonly cluster: FoundCluster; readonly entries: readonly AuditEntry[] }> {
  const cluster = await findCluster(name, dataDir, host);
  // Objects before owners: what is made in between is not missed by the second list.
  const objects = await gatherHostObjects(cluster, host, signal);
  const owners = await findLivingOwners(cluster, host, signal);
  return { cluster, entries: auditEntries(cluster, objects, owners) };
}

/** Of run folders, and of what carries a cluster's whole name. */
async function namesOnHost(host: ClusterHost): Promise<readonly string[]> {
  const results = (host.isRoot ? await host.files.list('/var/lib/cni/results') : []).flatMap(
    ({ name }) => /^kubernode-(.+)-[0-9a-f]{64}-[^-]+$/.exec(name)?.[1] ?? [],
  );
  const cgroups = (await host.cgroups.listBelow('/kubernode')).flatMap((cgroup) => /^\/kubernode\/([^/]+)$/.exec(cgroup)?.[1] ?? []);
  const slices = (await host.cgroups.listBelow('/kubernode.slice')).flatMap(
    (cgroup) => /^\/kubernode\.slice\/kubernode-([^/]+)\.slice$/.exec(cgroup)?.[1]?.replaceAll('_', '-') ?? [],
  );
  const shims = (await host.processes.list()).flatMap(({ command }) =>
    command.flatMap((word) => /^\/run\/kubernode\/([^/]+)\/containerd\.sock$/.exec(word)?.[1] ?? []),
  );
  return [...new Set([...(await clusterNames(host)), ...results, ...cgroups, ...slices, ...shims])].filter(isName).sort();
}

function isName(name: string): boolean {
  try {
    return hostNames(name).name === name;
  } catch {
    return false; // somebody else's folder
  }
}

/** Links and chains carry the hash of a name only. */
async function anonymousLeftovers(known: readonly string[], rules: string, host: ClusterHost): Promise<readonly AuditEntry[]> {
  const ofKnown = new Set(known.flatMap((name) => [hostNames(name).bridge, hostNames(name).iptablesChain]));
  const links = (await host.network.links()).map(({ name }) => name).filter((name) => /^kn[0-9a-f]{8}$/.test(name) && !ofKnown.has(name));
  const chains = clusterChains(rules).flatMap(({ chain }) => (ofKnown.has(chain) ? [] : [chain]));
  return [
    ...links.map((object) => ({ kind: 'link', object, cluster: undefined, owner: undefined }) as const),
    ...chains.map((object) => ({ kind: 'firewall-chain', object, cluster: undefined, owner: undefined }) as const),
  ];
}
