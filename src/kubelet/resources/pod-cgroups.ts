import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { type CgroupSettings, CgroupSettingsRefused, type CgroupsPort } from '../ports/cgroups.ts';
import type { CgroupNames } from './cgroup-names.ts';
import type { NodeCgroupOptions } from './cgroup-options.ts';
import { podCgroupSettings, qosTreeSettings, reservedCgroupSettings } from './cgroup-settings.ts';

export interface PodCgroupsOptions extends Pick<NodeCgroupOptions, 'isPerQos' | 'pod' | 'limits' | 'reservedCgroups'> {
  readonly names: CgroupNames;
  readonly logger: Logger;
  /** An event on the node. */
  readonly tell: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
}

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
  /** Uids that have a cgroup and are not known. */
  orphans(knownUids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly string[]>;
}

export function createPodCgroups(cgroups: CgroupsPort, options: PodCgroupsOptions): PodCgroups {
  const { names, isPerQos, limits, pod: podOptions } = options;
  let written = '';

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
    const found = await Promise.all(
      names.tiers.map(async (tier) => {
        const children = await cgroups.children(tier, signal);
        return children.filter((name) => names.uidOf(name) === podUid).map((name) => `${tier}/${name}`);
      }),
    );
    return found.flat();
  }

  /** @throws {InvalidInput} when a cgroup that the configuration names is not there; {CgroupSettingsRefused} */
  async function holdDaemons(signal: AbortSignal): Promise<void> {
    for (const { title, path, reserved, isCompressibleOnly } of options.reservedCgroups) {
      try {
        if (!(await cgroups.exists(path, signal))) throw new InvalidInput({ message: `cgroup "${path}" has some missing paths or controllers` });
        await cgroups.ensure(path, reservedCgroupSettings(reserved, isCompressibleOnly), signal);
      } catch (error) {
        const what = `${title} Reserved ${isCompressibleOnly ? 'Compressible ' : ''}Cgroup Limits`;
        const message = `Failed to enforce ${what} on "${path}": ${messageOf(error)}`;
        options.tell('Warning', 'FailedNodeAllocatableEnforcement', message);
        throw new InvalidInput({ message, cause: error, hint: 'make the cgroup, or take it out of enforceNodeAllocatable' });
      }
      options.tell('Normal', 'NodeAllocatableEnforced', `Updated limits on ${title.toLowerCase()} reserved cgroup ${path}`);
    }
  }

  return {
    async prepareTree(signal) {
      if (!isPerQos) return;
      const tree = qosTreeSettings([], limits);
      await ensureWith(names.root, tree.root, signal);
      await ensureWith(names.tier('BestEffort'), tree.bestEffort, signal);
      // What runs already keeps its weight until `updateQos` knows the pods.
      await ensureWith(names.tier('Burstable'), { hugepageLimits: tree.burstable.hugepageLimits }, signal);
      options.tell('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
      await holdDaemons(signal);
    },
    async ensure(pod, signal) {
      if (!isPerQos) return '';
      const path = names.pod(pod);
      if (!(await cgroups.exists(path, signal))) await ensureWith(path, podCgroupSettings(pod, podOptions), signal);
      return path;
    },
    find: async (podUid, signal) => (isPerQos ? (await pathsOf(podUid, signal))[0] : ''),
    async remove(podUid, signal) {
      for (const path of await pathsOf(podUid, signal)) await cgroups.remove(path, signal);
    },
    async updateQos(pods, signal) {
      if (!isPerQos) return;
      const { root, burstable } = qosTreeSettings(pods, limits, podOptions.protectMemory);
      const wanted = JSON.stringify([burstable, root.unified]);
      if (wanted === written) return;
      if (root.unified !== undefined) await ensureWith(names.root, { unified: root.unified }, signal);
      await ensureWith(names.tier('Burstable'), burstable, signal);
      written = wanted;
    },
    async orphans(knownUids, signal) {
      if (!isPerQos) return [];
      const children = await Promise.all(names.tiers.map((tier) => cgroups.children(tier, signal)));
      const uids = children.flat().flatMap((name) => names.uidOf(name) ?? []);
      return [...new Set(uids)].filter((uid) => !knownUids.has(uid));
    },
  };
}
