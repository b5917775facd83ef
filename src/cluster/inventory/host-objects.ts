import { cgroupRoots } from '../cgroup-roots.ts';
import type { FoundCluster } from '../find-clusters.ts';
import { type HostPortRule, hostPortRules } from '../firewall.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { HostMount } from '../ports/mounts.ts';
import type { ProcessIdentity } from '../ports/processes.ts';
import { type Attachment, parseAttachment } from './attachment.ts';

export interface Shim extends ProcessIdentity {
  /** Of the sandbox that it serves. */
  readonly containerId: string;
}

export interface Reservation {
  readonly address: string;
  readonly containerId: string;
  readonly file: string;
}

/** Everything that the host has of one cluster, found by name, path and content, whoever lives. */
export interface HostObjects {
  readonly shims: readonly Shim[];
  /** At or below the run and the data folder, deepest first. */
  readonly mounts: readonly HostMount[];
  readonly bridge: string | undefined;
  /** Ports of the bridge. */
  readonly links: readonly string[];
  readonly reservations: readonly Reservation[];
  readonly attachments: readonly Attachment[];
  /** Deepest first. */
  readonly cgroups: readonly string[];
  readonly hostPortRules: readonly HostPortRule[];
  /** All rules of the host, as `iptables-save` prints them. */
  readonly rules: string;
  /** Uids that have a folder below the kubelet's root. */
  readonly podDirectories: readonly string[];
  /** Sockets of shims, which containerd puts outside of its own folders. */
  readonly shimSockets: readonly string[];
}

const attachmentsDir = '/var/lib/cni/results';

export async function gatherHostObjects(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<HostObjects> {
  const { names, paths } = cluster;
  const rules = host.isRoot ? await host.network.rules(signal) : '';
  const [shims, mounts, links, reservations, attachments, cgroups, podDirectories, shimSockets] = await Promise.all([
    shimsOf(paths.containerdSocket, host),
    Promise.all([host.mounts.listBelow(paths.runDir), host.mounts.listBelow(paths.dataDir)]).then((lists) => lists.flat()),
    host.network.links(),
    reservationsIn(`${paths.cniDataDir}/${names.network}`, host),
    attachmentsOf(names.network, host),
    Promise.all(cgroupRoots(names, cluster.settings).map((root) => host.cgroups.listBelow(root))).then((lists) => lists.flat()),
    host.files.list(`${paths.kubeletRoot}/pods`),
    shimSocketsOf(paths.containerdState, host),
  ]);
  return {
    shims,
    mounts,
    bridge: links.find((link) => link.name === names.bridge)?.name,
    links: links.filter((link) => link.master === names.bridge).map((link) => link.name),
    reservations,
    attachments,
    cgroups,
    hostPortRules: hostPortRules(rules, names.network),
    rules,
    podDirectories: podDirectories.filter((entry) => entry.isDirectory).map((entry) => entry.name),
    shimSockets,
  };
}

/** A shim names the containerd that it reports to. */
async function shimsOf(containerdSocket: string, host: ClusterHost): Promise<readonly Shim[]> {
  return (await host.processes.list()).flatMap((process) => {
    const { command, pid, startTicks } = process;
    if (!/\/?containerd-shim[^/]*$/.test(command[0] ?? '') || argument(command, '-address') !== containerdSocket) return [];
    return [{ pid, startTicks, containerId: argument(command, '-id') ?? '' }];
  });
}

function argument(command: readonly string[], name: string): string | undefined {
  const at = command.indexOf(name);
  return at < 0 ? undefined : command[at + 1];
}

/** Source: host-local keeps a file an address: the container's id, then the interface. */
async function reservationsIn(directory: string, host: ClusterHost): Promise<readonly Reservation[]> {
  const files = (await host.files.list(directory)).filter((entry) => /^\d+\.\d+\.\d+\.\d+$/.test(entry.name));
  return await Promise.all(
    files.map(async ({ name }) => {
      const file = `${directory}/${name}`;
      return { address: name, file, containerId: ((await host.files.readText(file)) ?? '').split(/\s/)[0] ?? '' };
    }),
  );
}

async function attachmentsOf(network: string, host: ClusterHost): Promise<readonly Attachment[]> {
  if (!host.isRoot) return []; // only root has nodes, and may look there
  const files = await host.files.list(attachmentsDir);
  const own = await Promise.all(
    files
      .filter((entry) => entry.name.startsWith(`${network}-`))
      .map(async ({ name }) => parseAttachment(`${attachmentsDir}/${name}`, (await host.files.readText(`${attachmentsDir}/${name}`)) ?? '')),
  );
  return own.flatMap((attachment) => {
    if (attachment === undefined || attachment.network !== network) return []; // of a cluster whose name begins with ours
    const loopback = `cni-loopback-${attachment.containerId}-lo`;
    const hasLoopback = files.some((entry) => entry.name === loopback);
    return [attachment, ...(hasLoopback ? [{ ...attachment, file: `${attachmentsDir}/${loopback}` }] : [])];
  });
}

/** Each task's folder names the socket of its shim. */
async function shimSocketsOf(containerdState: string, host: ClusterHost): Promise<readonly string[]> {
  const tasks = `${containerdState}/io.containerd.runtime.v2.task/k8s.io`;
  const addresses = await Promise.all((await host.files.list(tasks)).map(({ name }) => host.files.readText(`${tasks}/${name}/address`)));
  return [...new Set(addresses.flatMap((address) => address?.trim().replace(/^unix:\/\//, '') ?? []))].filter((path) => path.startsWith('/'));
}
