import type { Container, Pod } from '#api/types/core-v1.ts';
import type { AllocationAnswer, AllocationsPort, ContainerAllocation } from '../ports/allocations.ts';
import type { Align, AllocationProvider, AllocationRefusal } from './provider.ts';

/** All providers as one: containers in the order of the spec, init containers first, each from every provider or the pod from none. */
export class Allocations implements AllocationsPort {
  readonly #providers: readonly AllocationProvider[];
  readonly #align: Align;

  constructor(providers: readonly AllocationProvider[], align: Align) {
    this.#providers = providers;
    this.#align = align;
  }

  async allocate(pod: Pod, signal: AbortSignal): Promise<AllocationAnswer> {
    for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const refusal = await this.#allocateOne(pod, container, signal);
      if (refusal === undefined) continue;
      this.release(pod.metadata.uid);
      return { admitted: false, ...refusal };
    }
    return { admitted: true };
  }

  async prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerAllocation | undefined> {
    const parts = await Promise.all(this.#providers.map((provider) => provider.prepare(pod, container, signal)));
    const given = parts.filter((part) => part !== undefined);
    return given.length === 0 ? undefined : given.reduce<ContainerAllocation>(joined, nothing);
  }

  release(podUid: string): void {
    for (const provider of this.#providers) provider.release(podUid);
  }

  readonly resources = () => Object.assign({}, ...this.#providers.map((provider) => provider.resources?.() ?? {}));

  async #allocateOne(pod: Pod, container: Container, signal: AbortSignal): Promise<AllocationRefusal | undefined> {
    const aligned = this.#align(
      pod,
      container,
      this.#providers.map((provider) => provider.hints(pod, container)),
    );
    if (aligned !== undefined && 'reason' in aligned) return aligned;
    for (const provider of this.#providers) {
      const refusal = await provider.allocate(pod, container, aligned, signal);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

const nothing: ContainerAllocation = { devices: [], mounts: [], envs: {}, annotations: {}, cdiDevices: [] };

function joined(one: ContainerAllocation, other: Partial<ContainerAllocation>): ContainerAllocation {
  return {
    cpus: other.cpus ?? one.cpus,
    memoryNodes: other.memoryNodes ?? one.memoryNodes,
    devices: [...one.devices, ...(other.devices ?? [])],
    mounts: [...one.mounts, ...(other.mounts ?? [])],
    envs: { ...one.envs, ...other.envs },
    annotations: { ...one.annotations, ...other.annotations },
    cdiDevices: [...one.cdiDevices, ...(other.cdiDevices ?? [])],
  };
}
