import type { Clock } from '#base/clock.ts';
import type { CgroupUsage, UsagePort } from '../ports/usage.ts';
import { type ContainerRecord, isRunning, type PodRuntimeState, type SandboxRecord } from '../runtime/pod-runtime-state.ts';
import { CpuRates } from './cpu-rates.ts';
import { type Compute, cpuUsage, memoryUsage, type NodeCompute, noPressure, type PodCompute, swapUsage } from './figures.ts';
import { containerCgroups, type PodCgroupTree, podCgroupIndex } from './pod-cgroup-index.ts';

export interface ComputeFiguresDeps {
  readonly usage: UsagePort;
  readonly podCgroups: PodCgroupTree;
  /** Pods as the runtime has them. */
  readonly cache: { all(): readonly PodRuntimeState[] };
  readonly clock: Clock;
}

/** A pod with its cgroups; those that went away are absent. */
export interface PodAsFound {
  readonly state: PodRuntimeState;
  readonly sandbox: SandboxRecord | undefined;
  readonly running: readonly ContainerRecord[];
  readonly cgroup: string | undefined;
  /** By the id of a container or of the sandbox. */
  readonly cgroups: ReadonlyMap<string, string>;
}

/** CPU and memory of node, pods and containers, from their cgroups. */
export class ComputeFigures {
  readonly #deps: ComputeFiguresDeps;
  readonly #rates = new CpuRates();
  #own: string | undefined;

  constructor(deps: ComputeFiguresDeps) {
    this.#deps = deps;
  }

  async node(signal: AbortSignal): Promise<NodeCompute> {
    const { usage, podCgroups, clock } = this.#deps;
    this.#own = await usage.ownCgroup();
    const [root, pods, host, own] = await Promise.all([
      usage.cgroup('/', signal),
      usage.cgroup(podCgroups.root, signal),
      usage.host(signal),
      this.#read(this.#own, signal),
    ]);
    return {
      ...this.#compute('/', root, host.swapBytes),
      startedAtMs: host.bootedAtMs,
      memory: memoryUsage(root, clock.now(), host.memoryBytes),
      memoryCapacityBytes: host.memoryBytes,
      pods: this.#compute(podCgroups.root, pods, host.swapBytes),
      kubelet: own === undefined ? undefined : this.#compute(this.#own, own, host.swapBytes),
    };
  }

  /** Every pod with a sandbox. */
  async find(signal: AbortSignal): Promise<readonly PodAsFound[]> {
    const { usage, podCgroups, cache } = this.#deps;
    const states = cache.all().filter(({ sandboxes }) => sandboxes.length > 0);
    const index = await podCgroupIndex(usage, podCgroups, signal);
    const found = await Promise.all(
      states.map(async (state) => {
        const sandbox = state.sandboxes.find(({ ready }) => ready) ?? state.sandboxes[0];
        const running = state.containers.filter(isRunning);
        const cgroup = index.get(state.uid);
        const ids = [...running.map(({ id }) => id), ...(sandbox === undefined ? [] : [sandbox.id])];
        return { state, sandbox, running, cgroup, cgroups: await containerCgroups(usage, cgroup, ids, signal) };
      }),
    );
    this.#rates.keep(new Set(['/', podCgroups.root, this.#own ?? '', ...found.flatMap(({ cgroup = '', cgroups }) => [cgroup, ...cgroups.values()])]));
    return found;
  }

  async pod({ state, sandbox, running, cgroup, cgroups }: PodAsFound, swapBytes: number, signal: AbortSignal): Promise<PodCompute> {
    const containers = running.map(async ({ id, name, createdAtMs }) => {
      const own = cgroups.get(id);
      return { id, name, ...this.#compute(own, await this.#read(own, signal), swapBytes), startedAtMs: createdAtMs };
    });
    const used = await this.#read(cgroup, signal);
    const { uid, namespace, name } = state;
    const compute = { ...this.#compute(cgroup, used, swapBytes), startedAtMs: sandbox?.createdAtMs ?? 0 };
    return { uid, namespace, name, ...compute, containers: await Promise.all(containers), processCount: used?.processes };
  }

  async #read(cgroup: string | undefined, signal: AbortSignal): Promise<CgroupUsage | undefined> {
    return cgroup === undefined ? undefined : await this.#deps.usage.cgroup(cgroup, signal);
  }

  #compute(cgroup: string | undefined, used: CgroupUsage | undefined, swapBytes: number): Compute {
    const atMs = this.#deps.clock.now();
    return {
      startedAtMs: used?.startedAtMs ?? 0,
      cpu: cpuUsage(used, atMs, cgroup === undefined ? undefined : this.#rates.of(cgroup, atMs, used?.cpu.totalNanos)),
      memory: memoryUsage(used, atMs),
      swap: swapUsage(used, atMs, swapBytes),
      pressure: used?.pressure ?? noPressure,
    };
  }
}
