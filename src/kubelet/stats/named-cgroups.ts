import type { Clock } from '#base/clock.ts';
import type { CgroupUsage, DiskUsage, FilesystemRoom, InterfaceUsage, Reading, UsagePort } from '../ports/usage.ts';
import type { PodAsFound } from './compute-figures.ts';
import { countedInterfaces } from './figures.ts';
import type { PodCgroupTree } from './pod-cgroup-index.ts';

/** A cgroup under the names that Prometheus set-ups ask for. */
export interface NamedCgroup {
  readonly labels: CgroupLabels;
  readonly atMs: number;
  readonly usage: CgroupUsage;
  /** Of the whole host and of sandboxes. */
  readonly interfaces: readonly InterfaceUsage[];
  readonly disks: readonly DiskUsage[];
  /** The whole host's file system, or a container's writable layer. */
  readonly filesystem: { readonly usedBytes: Reading; readonly room: FilesystemRoom | undefined } | undefined;
}

/** Empty where they do not apply: queries tell pods and containers apart by that. */
export interface CgroupLabels {
  readonly container: string;
  readonly id: string;
  readonly image: string;
  readonly name: string;
  readonly namespace: string;
  readonly pod: string;
}

export interface NamedCgroupsDeps {
  readonly usage: UsagePort;
  readonly podCgroups: PodCgroupTree;
  /** The kubelet's root. */
  readonly root: string;
  readonly find: (signal: AbortSignal) => Promise<readonly PodAsFound[]>;
  /** Bytes of writable layers by container id. */
  readonly layers: (signal: AbortSignal) => Promise<ReadonlyMap<string, { readonly usedBytes: number | undefined }>>;
  readonly clock: Clock;
}

/** Every cgroup that Prometheus set-ups ask for: the host, the tiers of pods, pods, their containers and sandboxes. */
export async function namedCgroups(deps: NamedCgroupsDeps, signal: AbortSignal): Promise<readonly NamedCgroup[]> {
  const { usage, podCgroups, root } = deps;
  const [pods, layers, interfaces, room] = await Promise.all([
    deps.find(signal),
    deps.layers(signal),
    usage.network(undefined, signal),
    usage.filesystem(root, signal),
  ]);
  const filesystem = { usedBytes: room === undefined ? undefined : room.capacityBytes - room.freeBytes, room };
  const wanted: readonly Wanted[] = [
    { labels: labelsOf('/'), interfaces, filesystem },
    ...[...new Set([podCgroups.root, ...podCgroups.tiers])].map((path) => ({ labels: labelsOf(path) })),
    ...pods.flatMap((pod) => ofPod(pod, layers)),
  ];
  const named = wanted.map(async (one): Promise<readonly NamedCgroup[]> => {
    const found = await usage.cgroup(one.labels.id, signal);
    if (found === undefined) return [];
    const own = one.isSandbox === true ? await usage.network(one.labels.id, signal) : (one.interfaces ?? []);
    const disks = await usage.disks(one.labels.id, signal);
    return [{ labels: one.labels, atMs: deps.clock.now(), usage: found, interfaces: countedInterfaces(own), disks, filesystem: one.filesystem }];
  });
  return (await Promise.all(named)).flat();
}

interface Wanted {
  readonly labels: CgroupLabels;
  readonly interfaces?: NamedCgroup['interfaces'];
  readonly filesystem?: NamedCgroup['filesystem'];
  /** Its network is the pod's. */
  readonly isSandbox?: boolean;
}

function ofPod({ state, sandbox, running, cgroup, cgroups }: PodAsFound, layers: ReadonlyMap<string, { readonly usedBytes: number | undefined }>) {
  const pod = { namespace: state.namespace, pod: state.name };
  const of = (id: string, more: Partial<CgroupLabels>, rest: Omit<Wanted, 'labels'> = {}): readonly Wanted[] => {
    const path = cgroups.get(id);
    return path === undefined ? [] : [{ labels: { ...labelsOf(path), ...pod, name: id, ...more }, ...rest }];
  };
  return [
    ...(cgroup === undefined ? [] : [{ labels: { ...labelsOf(cgroup), ...pod } }]),
    // Without an address of its own it counts the host's traffic, which is told once, with the host.
    ...(sandbox === undefined ? [] : of(sandbox.id, {}, { isSandbox: sandbox.ready && !sandbox.hostNetwork })),
    ...running.flatMap(({ id, name, image }) =>
      of(id, { container: name, image }, { filesystem: { usedBytes: layers.get(id)?.usedBytes, room: undefined } }),
    ),
  ];
}

function labelsOf(id: string): CgroupLabels {
  return { container: '', id, image: '', name: '', namespace: '', pod: '' };
}
