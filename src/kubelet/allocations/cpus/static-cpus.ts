import { qosClass } from '#api/pod/qos.ts';
import { quantityToMilli } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { CpuFigures } from '../../metrics/allocation-metrics.ts';
import type { ContainerAllocation } from '../../ports/allocations.ts';
import type { LogicalCpu } from '../../ports/cpu-topology.ts';
import { cpusOf } from '../../resources/cpu-set.ts';
import type { AllocationProvider, AllocationRefusal, TopologyHint, TopologyHints } from '../provider.ts';
import { unexpected } from '../refusals.ts';
import { chooseCpus } from './choose-cpus.ts';
import { cpuList } from './cpu-list.ts';
import type { CpuOptions } from './cpu-options.ts';
import type { CpuState } from './cpu-state.ts';
import { distributeCpus } from './distribute-cpus.ts';

export interface StaticCpusOptions extends CpuOptions {
  readonly topology: readonly LogicalCpu[];
  /** For the system: no container has one of them alone. */
  readonly reserved: readonly number[];
  readonly state: CpuState | undefined;
  readonly save: (state: CpuState, signal: AbortSignal) => Promise<void>;
}

/**
 * Gives containers of Guaranteed pods that ask for whole CPUs those for themselves; all others share the rest. Source: upstream's static policy
 * of the CPU manager.
 */
export class StaticCpus implements AllocationProvider {
  readonly #options: StaticCpusOptions;
  /** By pod uid and container name. */
  readonly #given: Map<string, Map<string, readonly number[]>>;
  readonly #online: readonly number[];

  constructor(options: StaticCpusOptions) {
    this.#options = options;
    this.#online = options.topology.map(({ cpu }) => cpu).sort((a, b) => a - b);
    this.#given = new Map(
      Object.entries(options.state?.entries ?? {}).map(([uid, containers]) => [
        uid,
        new Map(Object.entries(containers).map(([name, list]) => [name, cpusOf(list, 'cpu_manager_state')])),
      ]),
    );
  }

  /** What a container may run on. */
  cpusOf(podUid: string, container: string): readonly number[] {
    return this.#given.get(podUid)?.get(container) ?? this.#shared();
  }

  get state(): CpuState {
    const entries = [...this.#given].map(([uid, of]) => [uid, Object.fromEntries([...of].map(([name, cpus]) => [name, cpuList(cpus)]))]);
    return { policyName: 'static', defaultCpuSet: cpuList(this.#shared()), entries: Object.fromEntries(entries) };
  }

  get figures(): CpuFigures {
    const exclusive = new Set([...this.#given.values()].flatMap((of) => [...of.values()].flat()));
    return { shared: this.#shared().length, exclusive: exclusive.size };
  }

  get holders(): readonly string[] {
    return [...this.#given.keys()];
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const count = exclusiveCpus(pod, container);
    if (count === 0) return new Map();
    const own = this.#given.get(pod.metadata.uid)?.get(container.name);
    const free = own === undefined ? this.#free(pod) : new Set(own);
    const nodes = [...new Set(this.#options.topology.map(({ memoryNode }) => memoryNode))];
    const sets = Array.from({ length: 2 ** nodes.length - 1 }, (_, index) => nodes.filter((_node, bit) => ((index + 1) >> bit) & 1));
    const within = (set: readonly number[], accept: (cpu: number) => boolean) =>
      this.#options.topology.filter(({ cpu, memoryNode }) => set.includes(memoryNode) && accept(cpu)).length >= count;
    const least = Math.min(...sets.filter((set) => within(set, () => true)).map((set) => set.length));
    const hints = sets
      .filter((set) => within(set, (cpu) => free.has(cpu)))
      .map((set): TopologyHint => ({ nodes: set.reduce((mask, node) => mask | (1 << node), 0), preferred: set.length === least }));
    return new Map([['cpu', hints]]);
  }

  async allocate(pod: Pod, container: Container, hint: TopologyHint | undefined, signal: AbortSignal): Promise<AllocationRefusal | undefined> {
    const count = exclusiveCpus(pod, container);
    const { uid } = pod.metadata;
    if (count === 0 || this.#given.get(uid)?.has(container.name) === true) return undefined;
    const free = this.#free(pod);
    const refusal = this.#misaligned(count, free);
    if (refusal !== undefined) return refusal;
    const chosen = this.#choose(count, free, hint);
    if (chosen === undefined) {
      return unexpected(`not enough cpus available to satisfy request: requested=${count}, available=${free.size}`);
    }
    const ofPod = this.#given.get(uid) ?? new Map<string, readonly number[]>();
    this.#given.set(uid, ofPod.set(container.name, chosen));
    await this.#options.save(this.state, signal);
    return undefined;
  }

  async prepare(pod: Pod, container: Container): Promise<Partial<ContainerAllocation>> {
    return { cpus: cpuList(this.cpusOf(pod.metadata.uid, container.name)) };
  }

  holds(podUid: string): boolean {
    return this.#given.has(podUid);
  }

  release(podUid: string): void {
    this.#given.delete(podUid);
  }

  #shared(): readonly number[] {
    const { strictReservation, reserved } = this.#options;
    const exclusive = new Set([...this.#given.values()].flatMap((of) => [...of.values()].flat()));
    return this.#online.filter((cpu) => !exclusive.has(cpu) && !(strictReservation && reserved.includes(cpu)));
  }

  /** What the pod's next container may have: what nobody has, and what the pod's ordinary init containers will have left by then. */
  #free(pod: Pod): ReadonlySet<number> {
    const ofPod = this.#given.get(pod.metadata.uid);
    const reusable = (pod.spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy !== 'Always')
      .flatMap(({ name }) => ofPod?.get(name) ?? []);
    const inUse = new Set(
      [...this.#given].flatMap(([uid, of]) =>
        [...of].filter(([name]) => uid !== pod.metadata.uid || !isOrdinaryInit(pod, name)).flatMap(([, cpus]) => cpus),
      ),
    );
    const shared = this.#shared().filter((cpu) => !this.#options.reserved.includes(cpu));
    return new Set([...shared, ...reusable].filter((cpu) => !inUse.has(cpu)));
  }

  #misaligned(count: number, free: ReadonlySet<number>): AllocationRefusal | undefined {
    const { fullPhysicalCpusOnly, topology } = this.#options;
    if (!fullPhysicalCpusOnly) return undefined;
    const perCore = threadsPerCore(topology);
    const refuse = (problem: string) => ({ reason: 'SMTAlignmentError', message: `SMT Alignment Error: ${problem}` });
    if (count % perCore !== 0) return refuse(`requested ${count} cpus not multiple cpus per core = ${perCore}`);
    const whole = topology.filter(({ core }) => topology.filter((other) => other.core === core).every(({ cpu }) => free.has(cpu))).length;
    if (whole >= count) return undefined;
    return refuse(`not enough free physical CPUs: available physical CPUs = ${whole}, requested CPUs = ${count}, CPUs per core = ${perCore}`);
  }

  #choose(count: number, free: ReadonlySet<number>, hint: TopologyHint | undefined): readonly number[] | undefined {
    if (hint === undefined) return this.#pick(free, count);
    const { topology } = this.#options;
    const near = new Set(topology.filter(({ cpu, memoryNode }) => free.has(cpu) && (hint.nodes >> memoryNode) & 1).map(({ cpu }) => cpu));
    const aligned = this.#pick(near, Math.min(count, near.size));
    if (aligned === undefined) return this.#pick(free, count);
    const rest = new Set([...free].filter((cpu) => !aligned.includes(cpu)));
    const others = this.#pick(rest, count - aligned.length);
    return others === undefined ? undefined : [...aligned, ...others].sort((a, b) => a - b);
  }

  #pick(from: ReadonlySet<number>, count: number): readonly number[] | undefined {
    const { topology, fullPhysicalCpusOnly: wholeCores, distributes } = this.#options;
    const groupSize = wholeCores ? threadsPerCore(topology) : 1;
    const spread = distributes && count > 0 ? distributeCpus(topology, from, count, groupSize) : undefined;
    return spread ?? chooseCpus(topology, from, count, { wholeCores });
  }
}

function threadsPerCore(topology: readonly LogicalCpu[]): number {
  return topology.length / new Set(topology.map(({ core }) => core)).size;
}

function isOrdinaryInit(pod: Pod, container: string): boolean {
  return (pod.spec?.initContainers ?? []).some(({ name, restartPolicy }) => name === container && restartPolicy !== 'Always');
}

/** How many CPUs a container has for itself alone; 0: it shares. */
export function exclusiveCpus(pod: Pod, container: Container): number {
  if (qosClass(pod) !== 'Guaranteed' || pod.spec?.resources !== undefined) return 0;
  const milli = quantityToMilli(container.resources?.requests?.['cpu'] ?? container.resources?.limits?.['cpu'] ?? '0');
  return milli % 1000 === 0 ? milli / 1000 : 0;
}
