import type { Pod } from '#api/types/core-v1.ts';
import type { CgroupsPort } from '../ports/cgroups.ts';
import type { NodeCgroupOptions } from './cgroup-options.ts';
import { podCgroupSettings } from './cgroup-settings.ts';
import { MIN_CPU_SHARES } from './cpu.ts';
import { QosTree, type QosTreeOptions } from './qos-tree.ts';

export type PodCgroupsOptions = QosTreeOptions & Pick<NodeCgroupOptions, 'isPerQos'>;

/** The cgroups of all pods of a node, below one root. */
export interface PodCgroups {
  /** Makes the root and the tiers, and holds the node's own daemons to what is theirs. Once, at the start. */
  prepareTree(signal: AbortSignal): Promise<void>;
  /** Makes the pod's cgroup; one that is there is left as it is. @returns its path, '' when pods have none */
  ensure(pod: Pod, signal: AbortSignal): Promise<string>;
  /** The pod's cgroup, whatever its tier, as the world has it. */
  find(podUid: string, signal: AbortSignal): Promise<string | undefined>;
  /** Kills what still runs there. Only after the pod's tmpfs volumes are unmounted: else their memory is charged to the parent. */
  remove(podUid: string, signal: AbortSignal): Promise<void>;
  /** Gives the tiers their weights. @param pods those that are not finished */
  updateQos(pods: readonly Pod[], signal: AbortSignal): Promise<void>;
  /** Once a minute: the same whatever was written before, and what could not be enforced so far. */
  refresh(pods: readonly Pod[], signal: AbortSignal): Promise<void>;
  /** Uids that have a cgroup and are not known. They get the least weight: they may stay for long, if a volume of theirs cannot be unmounted. */
  orphans(knownUids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly string[]>;
}

export function createPodCgroups(cgroups: CgroupsPort, options: PodCgroupsOptions): PodCgroups {
  const { names, isPerQos, pod: podOptions } = options;
  const tree = new QosTree(cgroups, options);

  async function pathsOf(podUid: string, signal: AbortSignal): Promise<readonly string[]> {
    const found = await Promise.all(
      names.tiers.map(async (tier) => {
        const children = await cgroups.children(tier, signal);
        return children.filter((name) => names.uidOf(name) === podUid).map((name) => `${tier}/${name}`);
      }),
    );
    return found.flat();
  }

  return {
    async prepareTree(signal) {
      if (isPerQos) await tree.prepare(signal);
    },
    async ensure(pod, signal) {
      if (!isPerQos) return '';
      const path = names.pod(pod);
      if (!(await cgroups.exists(path, signal))) await tree.ensure(path, podCgroupSettings(pod, podOptions), signal);
      return path;
    },
    find: async (podUid, signal) => (isPerQos ? (await pathsOf(podUid, signal))[0] : ''),
    async remove(podUid, signal) {
      for (const path of await pathsOf(podUid, signal)) await cgroups.remove(path, signal);
    },
    async updateQos(pods, signal) {
      if (isPerQos) await tree.update(pods, signal);
    },
    async refresh(pods, signal) {
      if (isPerQos) await tree.refresh(pods, signal);
    },
    async orphans(knownUids, signal) {
      if (!isPerQos) return [];
      const children = await Promise.all(names.tiers.map((tier) => cgroups.children(tier, signal)));
      const uids = children.flat().flatMap((name) => names.uidOf(name) ?? []);
      const orphans = [...new Set(uids)].filter((uid) => !knownUids.has(uid));
      const noPages = Object.fromEntries(podOptions.hugepageSizes.map((size) => [size, 0]));
      for (const uid of orphans)
        for (const path of await pathsOf(uid, signal)) await tree.ensure(path, { cpuShares: MIN_CPU_SHARES, hugepageLimits: noPages }, signal);
      return orphans;
    },
  };
}
