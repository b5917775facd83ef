import { qosClass } from '#api/pod/qos.ts';
import { quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { ContainerAllocation } from '../../ports/allocations.ts';
import type { MemoryNode } from '../../ports/cpu-topology.ts';
import { cpuList } from '../cpus/cpu-list.ts';
import type { AllocationProvider, AllocationRefusal, TopologyHint, TopologyHints } from '../provider.ts';
import { unexpected } from '../refusals.ts';
import { maskOf, nodesOfMask, sizeOfMask } from '../topology/node-sets.ts';
import {
  breaksGroup,
  holds,
  type MemoryAmounts,
  type MemoryBlock,
  type MemoryMachine,
  memoryHints,
  memoryMachine,
  type ReservedMemory,
} from './memory-machine.ts';

/** By pod uid and container name. */
export type MemoryEntries = Readonly<Record<string, Readonly<Record<string, readonly MemoryBlock[]>>>>;

export interface StaticMemoryOptions {
  readonly nodes: readonly MemoryNode[];
  readonly reserved: ReservedMemory;
  readonly entries: MemoryEntries;
  readonly save: (signal: AbortSignal) => Promise<void>;
}

/** Pins memory and huge pages of Guaranteed pods' containers to as few memory nodes as hold them. Source: upstream's static policy of the memory manager. */
export class StaticMemory implements AllocationProvider {
  readonly #options: StaticMemoryOptions;
  #entries: MemoryEntries;

  constructor(options: StaticMemoryOptions) {
    this.#options = options;
    this.#entries = options.entries;
  }

  get entries(): MemoryEntries {
    return this.#entries;
  }

  get machine(): MemoryMachine {
    const { nodes, reserved } = this.#options;
    return memoryMachine(
      nodes,
      reserved,
      Object.values(this.#entries).flatMap((containers) => Object.values(containers).flat()),
    );
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const wish = wishOf(pod, container);
    if (wish.size === 0) return new Map();
    const own = this.#entries[pod.metadata.uid]?.[container.name];
    const hints: readonly TopologyHint[] =
      own === undefined
        ? memoryHints(this.machine, wish, this.#reusable(pod))
        : [{ nodes: maskOf(own.flatMap(({ numaAffinity }) => numaAffinity)), preferred: true }];
    return new Map([...wish.keys()].map((type) => [type, hints]));
  }

  async allocate(pod: Pod, container: Container, hint: TopologyHint | undefined, signal: AbortSignal): Promise<AllocationRefusal | undefined> {
    const { uid } = pod.metadata;
    const wish = wishOf(pod, container);
    if (wish.size === 0 || this.#entries[uid]?.[container.name] !== undefined) return undefined;
    const place = this.#placeOf(pod, wish, hint);
    if (typeof place === 'string') return unexpected(`[memorymanager] ${place}`);
    const numaAffinity = nodesOfMask(place);
    const blocks = [...wish].map(([type, size]): MemoryBlock => ({ numaAffinity, type, size }));
    const others = this.#withoutReused(pod, place, wish);
    this.#entries = { ...this.#entries, [uid]: { ...others, [container.name]: blocks } };
    await this.#options.save(signal);
    return undefined;
  }

  async prepare(pod: Pod, container: Container): Promise<Partial<ContainerAllocation> | undefined> {
    const blocks = this.#entries[pod.metadata.uid]?.[container.name];
    if (blocks === undefined) return undefined;
    return { memoryNodes: cpuList(nodesOfMask(maskOf(blocks.flatMap(({ numaAffinity }) => numaAffinity)))) };
  }

  holds(podUid: string): boolean {
    return this.#entries[podUid] !== undefined;
  }

  release(podUid: string): void {
    const { [podUid]: _, ...left } = this.#entries;
    this.#entries = left;
  }

  /** @returns the nodes, or why there are none */
  #placeOf(pod: Pod, wish: MemoryAmounts, hint: TopologyHint | undefined): number | string {
    const { machine } = this;
    const reusable = this.#reusable(pod);
    const possible = memoryHints(machine, wish, reusable);
    let best = hint;
    if (best === undefined) {
      best = bestOf(possible);
      if (best === undefined) return 'failed to get the default NUMA affinity, no NUMA nodes with enough memory is available';
    } else if (!holds(machine, best.nodes, wish, reusable)) {
      const { nodes, preferred } = best;
      best = bestOf(possible.filter((wider) => (wider.nodes & nodes) === nodes));
      if (best === undefined) return 'failed to find NUMA nodes to extend the current topology hint';
      if (preferred && !best.preferred) return 'failed to find the extended preferred hint';
    }
    return breaksGroup(machine, best.nodes) ? 'preferred hint violates NUMA node allocation' : best.nodes;
  }

  /** What ordinary init containers of the pod have on exactly these nodes: it is free by the time that the next one runs. */
  #reusable(pod: Pod): (nodes: number, type: string) => number {
    const blocks = Object.entries(this.#entries[pod.metadata.uid] ?? {}).flatMap(([name, of]) => (isOrdinaryInit(pod, name) ? of : []));
    return (nodes, type) =>
      blocks.filter((block) => block.type === type && maskOf(block.numaAffinity) === nodes).reduce((sum, { size }) => sum + size, 0);
  }

  /** The pod's entries with what the new container takes over from init containers counted only once. */
  #withoutReused(pod: Pod, place: number, wish: MemoryAmounts): Readonly<Record<string, readonly MemoryBlock[]>> {
    const left = new Map(wish);
    return Object.fromEntries(
      Object.entries(this.#entries[pod.metadata.uid] ?? {}).map(([name, blocks]) => {
        if (!isOrdinaryInit(pod, name)) return [name, blocks];
        const smaller = blocks.map((block) => {
          if (maskOf(block.numaAffinity) !== place) return block;
          const taken = Math.min(block.size, left.get(block.type) ?? 0);
          left.set(block.type, (left.get(block.type) ?? 0) - taken);
          return { ...block, size: block.size - taken };
        });
        return [name, smaller];
      }),
    );
  }
}

function bestOf(hints: readonly TopologyHint[]): TopologyHint | undefined {
  return [...hints].sort((a, b) => Number(b.preferred) - Number(a.preferred) || sizeOfMask(a.nodes) - sizeOfMask(b.nodes) || a.nodes - b.nodes)[0];
}

function isOrdinaryInit(pod: Pod, container: string): boolean {
  return (pod.spec?.initContainers ?? []).some(({ name, restartPolicy }) => name === container && restartPolicy !== 'Always');
}

function wishOf(pod: Pod, container: Container): MemoryAmounts {
  if (qosClass(pod) !== 'Guaranteed' || pod.spec?.resources !== undefined) return new Map();
  const { limits = {}, requests = {} } = container.resources ?? {};
  const wishes = Object.entries({ ...limits, ...requests }).filter(([type]) => type === 'memory' || type.startsWith('hugepages-'));
  return new Map(wishes.map(([type, text]): [string, number] => [type, quantityToNumber(text)]).filter(([, size]) => size > 0));
}
