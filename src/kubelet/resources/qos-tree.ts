import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { type CgroupSettings, CgroupSettingsRefused, type CgroupsPort } from '../ports/cgroups.ts';
import type { CgroupNames } from './cgroup-names.ts';
import type { NodeCgroupOptions } from './cgroup-options.ts';
import { qosTreeSettings, reservedCgroupSettings } from './cgroup-settings.ts';

export interface QosTreeOptions extends Pick<NodeCgroupOptions, 'pod' | 'limits' | 'reservedCgroups'> {
  readonly names: CgroupNames;
  readonly logger: Logger;
  /** An event on the node. */
  readonly tell: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
}

/** The cgroups above those of the pods: what all of them may use, and the weight of each class. */
export class QosTree {
  readonly #cgroups: CgroupsPort;
  readonly #options: QosTreeOptions;
  #written = '';
  #isEnforced = false;

  constructor(cgroups: CgroupsPort, options: QosTreeOptions) {
    this.#cgroups = cgroups;
    this.#options = options;
  }

  /** Makes the root and the tiers, and holds the node's own daemons to what is theirs. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { names, limits } = this.#options;
    const tree = qosTreeSettings([], limits);
    await this.#enforce(signal);
    await this.ensure(names.tier('BestEffort'), tree.bestEffort, signal);
    // What runs already keeps its weight until `update` knows the pods.
    await this.ensure(names.tier('Burstable'), { hugepageLimits: tree.burstable.hugepageLimits }, signal);
    await this.#holdDaemons(signal);
  }

  /** Writes what pods have changed. @param pods those that are not finished */
  async update(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { names, limits, pod } = this.#options;
    const { root, burstable } = qosTreeSettings(pods, limits, pod.protectMemory);
    const wanted = JSON.stringify([burstable, root.unified]);
    if (wanted === this.#written) return;
    if (root.unified !== undefined) await this.ensure(names.root, { unified: root.unified }, signal);
    await this.ensure(names.tier('Burstable'), burstable, signal);
    this.#written = wanted;
  }

  /** Writes everything, whatever was written before. */
  async refresh(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { names, limits } = this.#options;
    await this.#enforce(signal);
    await this.ensure(names.tier('BestEffort'), qosTreeSettings([], limits).bestEffort, signal);
    this.#written = '';
    await this.update(pods, signal);
  }

  /** A setting that the kernel refuses costs a limit, not the pod: upstream's rule. */
  async ensure(path: string, settings: CgroupSettings, signal: AbortSignal): Promise<void> {
    try {
      await this.#cgroups.ensure(path, settings, signal);
    } catch (error) {
      if (!(error instanceof CgroupSettingsRefused)) throw error;
      this.#options.logger.warn('cgroup settings were refused', { cgroup: path, detail: error.message });
    }
  }

  /** Pods that run already may use more than they may by now: then it is tried again each minute until they use less. */
  async #enforce(signal: AbortSignal): Promise<void> {
    if (this.#isEnforced) return;
    const { names, limits, tell } = this.#options;
    try {
      await this.#cgroups.ensure(names.root, qosTreeSettings([], limits).root, signal);
      this.#isEnforced = true;
      tell('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
    } catch (error) {
      if (!(error instanceof CgroupSettingsRefused)) throw error;
      tell('Warning', 'FailedNodeAllocatableEnforcement', `Failed to update Node Allocatable Limits ${names.rootTitle}: ${error.message}`);
    }
  }

  /** @throws {InvalidInput} when a cgroup that the configuration names is not there, or the kernel refuses what it is to be held to */
  async #holdDaemons(signal: AbortSignal): Promise<void> {
    const { reservedCgroups, pod, tell } = this.#options;
    for (const { title, path, reserved, isCompressibleOnly } of reservedCgroups) {
      try {
        const lack = await this.#cgroups.lack(path, signal);
        if (lack !== undefined) throw new InvalidInput({ message: lack });
        await this.#cgroups.ensure(path, reservedCgroupSettings(reserved, isCompressibleOnly, pod.hugepageSizes), signal);
      } catch (error) {
        const what = `${title} Reserved ${isCompressibleOnly ? 'Compressible ' : ''}Cgroup Limits`;
        const message = `Failed to enforce ${what} on "${path}": ${messageOf(error)}`;
        tell('Warning', 'FailedNodeAllocatableEnforcement', message);
        throw new InvalidInput({ message, cause: error, hint: 'make the cgroup, or take it out of enforceNodeAllocatable' });
      }
      tell('Normal', 'NodeAllocatableEnforced', `Updated limits on ${title.toLowerCase()} reserved cgroup ${path}`);
    }
  }
}
