import type { UsagePort } from '../ports/usage.ts';

type Children = Pick<UsagePort, 'cgroupChildren'>;

/** Where pods have their cgroups. */
export interface PodCgroupTree {
  readonly root: string;
  /** Every cgroup that may hold pods. */
  readonly tiers: readonly string[];
  /** Uid of the pod that a child of a tier belongs to. */
  uidOf(childName: string): string | undefined;
}

/** Cgroups of all pods by uid, as the world has them. */
export async function podCgroupIndex(usage: Children, { tiers, uidOf }: PodCgroupTree, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const index = new Map<string, string>();
  for (const tier of tiers) {
    for (const name of await usage.cgroupChildren(tier, signal)) {
      const uid = uidOf(name);
      if (uid !== undefined) index.set(uid, `${tier}/${name}`);
    }
  }
  return index;
}

/** Cgroups of containers and sandboxes of a pod by id; runtimes dress the id up where systemd keeps the tree. */
export async function containerCgroups(
  usage: Children,
  podCgroup: string | undefined,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const names = podCgroup === undefined ? [] : await usage.cgroupChildren(podCgroup, signal);
  return new Map(
    ids.flatMap((id) => {
      const name = names.find((one) => one.includes(id));
      return name === undefined ? [] : [[id, `${podCgroup}/${name}`] as const];
    }),
  );
}
