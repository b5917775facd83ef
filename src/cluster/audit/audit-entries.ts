import { cgroupRoots } from '../cgroup-roots.ts';
import { type FoundCluster, isLive } from '../find-clusters.ts';
import { clusterChains, sharedChains } from '../firewall.ts';
import type { HostObjects } from '../inventory/host-objects.ts';

export type AuditKind =
  | 'process'
  | 'shim'
  | 'network-namespace'
  | 'link'
  | 'address'
  | 'network-result'
  | 'mount'
  | 'cgroup'
  | 'directory'
  | 'firewall-rule'
  | 'firewall-chain';

/** One object of the host. */
export interface AuditEntry {
  readonly kind: AuditKind;
  /** Path, name, address or pid: what its own tools call it. */
  readonly object: string;
  /** Absent for a leftover that cannot be told whose it was. */
  readonly cluster: string | undefined;
  /** Who it is for and lives; absent for a leftover. */
  readonly owner: string | undefined;
}

/** Who lives in a cluster. */
export interface LivingOwners {
  /** Sandboxes and containers that the runtime knows, by id; in words. */
  readonly containers: ReadonlyMap<string, string>;
  /** Pods that the runtime or the API server knows, by uid; in words. */
  readonly pods: ReadonlyMap<string, string>;
}

/** Every object of one cluster with its owner. Pure: the same facts give the same entries. */
export function auditEntries(cluster: FoundCluster, objects: HostObjects, owners: LivingOwners): readonly AuditEntry[] {
  const { names, paths } = cluster;
  const live = isLive(cluster);
  const roots = cgroupRoots(names, cluster.settings);
  // A node without a cluster of this host is not gone with its kubelet: its pods run on, and the next kubelet takes them over.
  const isWaiting =
    !live && cluster.settings === undefined && cluster.runtime !== undefined && objects.podDirectories.some((uid) => owners.pods.has(uid));
  const whole = live ? `cluster ${names.name}` : isWaiting ? `node ${names.name}, whose kubelet has ended` : undefined;
  const byContainer = (id: string) => owners.containers.get(id);
  const entry = (kind: AuditKind, object: string, owner: string | undefined): AuditEntry => ({ kind, object, cluster: names.name, owner });
  const attachmentOf = (test: (attachment: HostObjects['attachments'][number]) => boolean) =>
    byContainer(objects.attachments.find(test)?.containerId ?? '');
  const dataOwner = (uid: string) =>
    live ? owners.pods.get(uid) && `pod ${owners.pods.get(uid)}` : `data of cluster ${names.name}, which is stopped`;
  return [
    ...Object.entries(cluster.processes).map(([part, process]) => entry('process', `${part} (pid ${process.pid})`, whole)),
    ...objects.shims.map((shim) => entry('shim', `pid ${shim.pid}, sandbox ${shim.containerId}`, byContainer(shim.containerId))),
    ...(objects.bridge === undefined ? [] : [entry('link', objects.bridge, whole)]),
    ...objects.links.map((link) =>
      entry(
        'link',
        link,
        attachmentOf(({ hostLinks }) => hostLinks.includes(link)),
      ),
    ),
    ...objects.reservations.map(({ address, containerId }) => entry('address', address, byContainer(containerId))),
    ...objects.attachments.map(({ file, containerId }) => entry('network-result', file, byContainer(containerId))),
    ...objects.mounts.map(({ target, fsType }) => {
      if (fsType === 'nsfs')
        return entry(
          'network-namespace',
          target,
          attachmentOf(({ netns }) => netns === target),
        );
      return entry('mount', target, ownerOfPath(target.replace(paths.runDir, '').replace(paths.dataDir, ''), owners, whole));
    }),
    ...objects.cgroups.map((cgroup) => entry('cgroup', cgroup, ownerOfPath(belowRoot(cgroup, roots), owners, whole))),
    ...objects.hostPortRules.map((rule) => entry('firewall-rule', rule.rule, byContainer(rule.containerId))),
    ...clusterChains(objects.rules).flatMap(({ chain }) => (chain === names.iptablesChain ? [entry('firewall-chain', chain, whole)] : [])),
    ...(cluster.hasRunDir ? [entry('directory', paths.runDir, whole)] : []),
    ...(cluster.settings === undefined ? [] : [entry('directory', paths.dataDir, whole ?? `data of cluster ${names.name}, which is stopped`)]),
    ...objects.podDirectories.map((uid) => entry('directory', `${paths.kubeletRoot}/pods/${uid}`, dataOwner(uid))),
  ];
}

/** Chains that all networks of the host share; they stay when the last cluster goes. */
export function sharedEntries(rules: string): readonly AuditEntry[] {
  return sharedChains(rules).map((chain) => ({
    kind: 'firewall-chain',
    object: chain,
    cluster: undefined,
    owner: 'shared by all networks of this host',
  }));
}

/** As cgroupfs would have it: a slice has the names of all slices above it, and `_` for `-`; a container is a scope. */
function belowRoot(cgroup: string, roots: readonly string[]): string {
  const root = roots.find((one) => cgroup === one || cgroup.startsWith(`${one}/`)) ?? '';
  return cgroup
    .slice(root.length)
    .split('/')
    .map((part) =>
      part.replace(/^.*-pod(.+)\.slice$/, (_, uid: string) => `pod${uid.replaceAll('_', '-')}`).replace(/^cri-containerd-(.+)\.scope$/, '$1'),
    )
    .join('/');
}

/** Somewhere in a path of the runtime or the kubelet is the id of a container, or the uid of a pod; without either it is the whole cluster's. */
function ownerOfPath(path: string, owners: LivingOwners, whole: string | undefined): string | undefined {
  const parts = path.split('/');
  const containerId = parts.find((part) => /^[0-9a-f]{64}$/.test(part));
  if (containerId !== undefined) return owners.containers.get(containerId);
  const uid = parts
    .map((part, at) => (parts[at - 1] === 'pods' || parts[at - 1] === 'volumes' ? part : /^pod(?!s$)(.+)$/.exec(part)?.[1]))
    .find(Boolean);
  if (uid === undefined) return whole;
  const pod = owners.pods.get(uid);
  return pod === undefined ? undefined : `pod ${pod}`;
}
