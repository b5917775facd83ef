import type { Pod } from '#api/types/core-v1.ts';
import type { Logger } from '#base/log.ts';
import { type CgroupSettings, CgroupSettingsRefused, type CgroupsPort } from '../ports/cgroups.ts';
import { podCgroupName, podCgroupPath, tierPath, tierPaths, uidOfCgroupName } from './cgroup-names.ts';
import { type NodeCgroupLimits, type PodCgroupOptions, podCgroupSettings, qosTreeSettings } from './cgroup-settings.ts';

export interface PodCgroupsOptions {
  readonly pod: PodCgroupOptions;
  readonly limits: NodeCgroupLimits;
  readonly logger: Logger;
}

/** The cgroups of all pods of a node, below one root. */
export interface PodCgroups {
  /** Makes the root and the tiers. Once, at the start. */
  prepareTree(signal: AbortSignal): Promise<void>;
  /** Makes the pod's cgroup; one that is there is left as it is. @returns its path */
  ensure(pod: Pod, signal: AbortSignal): Promise<string>;
  /** The pod's cgroup, whatever its tier, as the world has it. */
  find(podUid: string, signal: AbortSignal): Promise<string | undefined>;
  /** Kills what still runs there. Only after the pod's tmpfs volumes are unmounted: else their memory is charged to the parent. */
  remove(podUid: string, signal: AbortSignal): Promise<void>;
  /** Gives the tiers their weights. @param pods those that are not finished */
  updateQos(pods: readonly Pod[], signal: AbortSignal): Promise<void>;
  /** Uids that have a cgroup and are not known. */
  orphans(knownUids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly string[]>;
}

export function createPodCgroups(cgroups: CgroupsPort, root: string, options: PodCgroupsOptions): PodCgroups {
  let burstableShares: number | undefined;

  /** A setting that the kernel refuses costs a limit, not the pod: upstream's rule. */
  async function ensureWith(path: string, settings: CgroupSettings, signal: AbortSignal): Promise<void> {
    try {
      await cgroups.ensure(path, settings, signal);
    } catch (error) {
      if (!(error instanceof CgroupSettingsRefused)) throw error;
      options.logger.warn('cgroup settings were refused', { cgroup: path, detail: error.message });
    }
  }

  async function pathsOf(podUid: string, signal: AbortSignal): Promise<readonly string[]> {
    const found: string[] = [];
    for (const tier of tierPaths(root)) {
      if ((await cgroups.children(tier, signal)).includes(podCgroupName(podUid))) found.push(`${tier}/${podCgroupName(podUid)}`);
    }
    return found;
  }

  return {
    async prepareTree(signal) {
      const tree = qosTreeSettings([], options.limits);
      await ensureWith(root, tree.root, signal);
      await ensureWith(tierPath(root, 'BestEffort'), tree.bestEffort, signal);
      // What runs already keeps its weight until `updateQos` knows the pods.
      await ensureWith(tierPath(root, 'Burstable'), { hugepageLimits: tree.burstable.hugepageLimits }, signal);
    },
    async ensure(pod, signal) {
      const path = podCgroupPath(root, pod);
      if (!(await cgroups.exists(path, signal))) await ensureWith(path, podCgroupSettings(pod, options.pod), signal);
      return path;
    },
    find: async (podUid, signal) => (await pathsOf(podUid, signal))[0],
    async remove(podUid, signal) {
      for (const path of await pathsOf(podUid, signal)) await cgroups.remove(path, signal);
    },
    async updateQos(pods, signal) {
      const { burstable } = qosTreeSettings(pods, options.limits);
      if (burstable.cpuShares === burstableShares) return;
      await ensureWith(tierPath(root, 'Burstable'), burstable, signal);
      burstableShares = burstable.cpuShares;
    },
    async orphans(knownUids, signal) {
      const names = await Promise.all(tierPaths(root).map((tier) => cgroups.children(tier, signal)));
      const uids = names.flat().flatMap((name) => uidOfCgroupName(name) ?? []);
      return [...new Set(uids)].filter((uid) => !knownUids.has(uid));
    },
  };
}
