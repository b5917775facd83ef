import type { Container, Pod } from '#api/types/core-v1.ts';
import type { AllocationAnswer, AllocationsPort, ContainerAllocation } from '../ports/allocations.ts';
import type { Align, AllocationProvider, AllocationRefusal, TopologyHint, TopologyHints } from './provider.ts';
import { asOneContainer } from './topology/as-one.ts';

/** All providers as one: containers in the order of the spec, init containers first, each from every provider or the pod from none. */
export class Allocations implements AllocationsPort {
  readonly #providers: readonly AllocationProvider[];
  readonly #align: Align;
  readonly #scope: 'container' | 'pod';

  /** @param scope 'pod': all containers of a pod are on the same memory nodes */
  constructor(providers: readonly AllocationProvider[], align: Align, scope: 'container' | 'pod' = 'container') {
    this.#providers = providers;
    this.#align = align;
    this.#scope = scope;
  }

  async allocate(pod: Pod, signal: AbortSignal): Promise<AllocationAnswer> {
    const refusal = await this.#allocateAll(pod, signal);
    if (refusal === undefined) return { admitted: true };
    this.release(pod.metadata.uid);
    return { admitted: false, ...refusal };
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

  async #allocateAll(pod: Pod, signal: AbortSignal): Promise<AllocationRefusal | undefined> {
    const ofPod = this.#scope === 'pod' ? this.#alignPod(pod) : undefined;
    if (isRefusal(ofPod)) return ofPod;
    for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const hint = this.#scope === 'pod' ? ofPod : this.#align(() => this.#hints(pod, container));
      if (isRefusal(hint)) return hint;
      for (const provider of this.#providers) {
        const refusal = await provider.allocate(pod, container, hint, signal);
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  }

  /** A pod that has its share already, as after a restart of the kubelet, is where it is. */
  #alignPod(pod: Pod): TopologyHint | AllocationRefusal | undefined {
    if (this.#providers.some((provider) => provider.holds(pod.metadata.uid))) return undefined;
    return this.#align(() => this.#hints(pod, asOneContainer(pod)));
  }

  #hints(pod: Pod, container: Container): readonly TopologyHints[] {
    return this.#providers.map((provider) => provider.hints(pod, container));
  }
}

function isRefusal(answer: TopologyHint | AllocationRefusal | undefined): answer is AllocationRefusal {
  return answer !== undefined && 'reason' in answer;
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
