import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { type KubeletRoots, podPaths } from '../paths.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { FilesystemLayout, FilesystemUsage, StatsPort, VolumeUsage } from '../ports/stats.ts';
import type { CgroupUsage, DirectoryUsage, FilesystemRoom, UsagePort } from '../ports/usage.ts';
import { type ContainerRecord, isRunning, type PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { CpuRates } from './cpu-rates.ts';
import { DirectorySizes } from './directory-sizes.ts';
import { type ContainerFigures, cpuUsage, memoryUsage, type NodeFigures, type PodFigures, partUsage, roomUsage, sum, swapUsage } from './figures.ts';
import { measuredVolumes } from './measured-volumes.ts';
import { containerCgroups, type PodCgroupTree, podCgroupIndex } from './pod-cgroup-index.ts';
import { type LayerUsage, RuntimeFigures, type RuntimeFilesystem } from './runtime-figures.ts';

export interface StatsProviderDeps {
  readonly usage: UsagePort;
  readonly runtime: Pick<RuntimePort, 'listContainerStats' | 'imageFsInfo'>;
  /** Pods as the runtime has them. */
  readonly cache: { all(): readonly PodRuntimeState[] };
  readonly podOf: (uid: string) => Pod | undefined;
  readonly roots: KubeletRoots & { readonly memory: string };
  readonly podCgroups: PodCgroupTree;
  /** `volumeStatsAggPeriod`; not positive: volumes have no figures. */
  readonly volumePeriodMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface StatsProvider extends StatsPort, AsyncDisposable {
  node(signal: AbortSignal): Promise<NodeFigures>;
  pods(signal: AbortSignal): Promise<readonly PodFigures[]>;
}

/** Figures of the runtime and of logs are as old as this. Upstream's runtimes look at their own files as often. */
const filesPeriodMs = 10_000;
const runtimeDeadlineMs = 10_000;

/** Reads the node when somebody asks, and nothing in between. */
export function createStatsProvider(deps: StatsProviderDeps): StatsProvider {
  return new Provider(deps);
}

class Provider implements StatsProvider {
  readonly #deps: StatsProviderDeps;
  readonly #rates = new CpuRates();
  readonly #sizes: DirectorySizes;
  readonly #runtime: RuntimeFigures;
  /** Short volume periods, as in tests, hold for all files. */
  readonly #filesPeriodMs: number;

  constructor(deps: StatsProviderDeps) {
    this.#deps = deps;
    this.#filesPeriodMs = deps.volumePeriodMs > 0 ? Math.min(filesPeriodMs, deps.volumePeriodMs) : filesPeriodMs;
    this.#sizes = new DirectorySizes(deps);
    this.#runtime = new RuntimeFigures(deps.runtime, deps.clock, this.#filesPeriodMs);
  }

  async node(signal: AbortSignal): Promise<NodeFigures> {
    const { usage, clock, roots, podCgroups } = this.#deps;
    const { images, containers } = await this.#withRuntime(signal, () => this.#runtime.filesystems());
    const atMs = clock.now();
    const [root, pods, host, nodeRoom, interfaces, imageRoom, containerRoom] = await Promise.all([
      usage.cgroup('/', signal),
      usage.cgroup(podCgroups.root, signal),
      usage.host(signal),
      usage.filesystem(roots.root, signal),
      usage.network(undefined, signal),
      this.#room(images, signal),
      this.#room(containers, signal),
    ]);
    return {
      startedAtMs: host.bootedAtMs,
      cpu: this.#cpu('/', root, atMs),
      memory: memoryUsage(root, atMs, host.memoryBytes),
      memoryCapacityBytes: host.memoryBytes,
      swap: swapUsage(root, atMs, host.swapBytes),
      processes: { atMs, running: host.tasks, max: host.maxTasks },
      network: { atMs, interfaces },
      pressure: root?.pressure ?? noPressure,
      nodeFs: roomUsage(nodeRoom, atMs),
      imageFs: runtimeFs(images, imageRoom, atMs),
      containerFs: runtimeFs(containers, containerRoom, atMs),
      layout: layoutOf(nodeRoom, imageRoom, containerRoom),
      podsMemory: memoryUsage(pods, atMs),
      podsCpu: this.#cpu(podCgroups.root, pods, atMs),
    };
  }

  async pods(signal: AbortSignal): Promise<readonly PodFigures[]> {
    const { usage, cache, roots, podCgroups } = this.#deps;
    const [layers, filesystems] = await this.#withRuntime(signal, () => Promise.all([this.#runtime.layers(), this.#runtime.filesystems()]));
    const [room, host, index, containerRoom] = await Promise.all([
      usage.filesystem(roots.root, signal),
      usage.host(signal),
      podCgroupIndex(usage, podCgroups, signal),
      this.#room(filesystems.containers, signal),
    ]);
    const atMs = this.#deps.clock.now();
    const nodeFs = roomUsage(room, atMs);
    const containerFs = runtimeFs(filesystems.containers, containerRoom, atMs);
    const asked: Asked = { layers, nodeFs, containerFs, swapBytes: host.swapBytes, cgroups: new Set(['/', podCgroups.root]), directories: new Set() };
    const states = cache.all().filter(({ sandboxes }) => sandboxes.length > 0);
    const pods = await Promise.all(states.map((state) => this.#pod(state, index.get(state.uid), asked, signal)));
    this.#rates.keep(asked.cgroups);
    this.#sizes.keep(asked.directories);
    return pods;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#runtime.close();
    await this.#sizes[Symbol.asyncDispose]();
  }

  async #pod(state: PodRuntimeState, cgroup: string | undefined, asked: Asked, signal: AbortSignal): Promise<PodFigures> {
    const { usage, clock } = this.#deps;
    const { uid, namespace, name } = state;
    const sandbox = state.sandboxes.find(({ ready }) => ready) ?? state.sandboxes[0];
    const running = state.containers.filter(isRunning);
    const cgroups = await containerCgroups(usage, cgroup, [...running.map(({ id }) => id), sandbox?.id ?? ''], signal);
    const [used, interfaces, containers, volumes, rest] = await Promise.all([
      cgroup === undefined ? undefined : usage.cgroup(cgroup, signal),
      sandbox?.ready === true && !sandbox.hostNetwork ? usage.network(cgroups.get(sandbox.id) ?? cgroup, signal) : [],
      Promise.all(running.map((container) => this.#container(state, container, cgroups.get(container.id), asked, signal))),
      this.#volumes(uid, asked, signal),
      this.#otherFiles(state, running, asked),
    ]);
    const atMs = clock.now();
    const storage = [
      ...rest,
      ...containers.flatMap(({ rootFs, logs }) => [rootFs, logs]),
      ...volumes.flatMap((one) => (one.isLocal ? [one.usage] : [])),
    ];
    if (cgroup !== undefined) asked.cgroups.add(cgroup);
    return {
      uid,
      namespace,
      name,
      startedAtMs: sandbox?.createdAtMs ?? 0,
      containers,
      cpu: this.#cpu(cgroup, used, atMs),
      memory: memoryUsage(used, atMs),
      swap: swapUsage(used, atMs, asked.swapBytes),
      network: { atMs, interfaces },
      pressure: used?.pressure ?? noPressure,
      volumes: volumes.map((one) => one.usage),
      ephemeralStorage: partUsage(asked.nodeFs, {
        usedBytes: sum(storage.map(({ usedBytes }) => usedBytes)),
        inodesUsed: sum(storage.map(({ inodesUsed }) => inodesUsed)),
      }),
      processCount: used?.processes,
    };
  }

  async #container(
    state: PodRuntimeState,
    { id, name, createdAtMs }: ContainerRecord,
    cgroup: string | undefined,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<ContainerFigures> {
    const [used, logs] = await Promise.all([
      cgroup === undefined ? undefined : this.#deps.usage.cgroup(cgroup, signal),
      this.#directory(podPaths(this.#deps.roots, state).containerLogs(name), this.#filesPeriodMs, asked),
    ]);
    const atMs = this.#deps.clock.now();
    if (cgroup !== undefined) asked.cgroups.add(cgroup);
    return {
      id,
      name,
      startedAtMs: createdAtMs,
      cpu: this.#cpu(cgroup, used, atMs),
      memory: memoryUsage(used, atMs),
      swap: swapUsage(used, atMs, asked.swapBytes),
      pressure: used?.pressure ?? noPressure,
      rootFs: partUsage(asked.containerFs, asked.layers.get(id) ?? nothing),
      logs: partUsage(asked.nodeFs, sizeOf(logs)),
    };
  }

  /** What ended containers have left, and the hosts file: it is the pod's storage too. */
  async #otherFiles(state: PodRuntimeState, running: readonly ContainerRecord[], asked: Asked): Promise<readonly Used[]> {
    const paths = podPaths(this.#deps.roots, state);
    const ended = state.containers.filter((container) => !running.includes(container));
    const others = new Set(ended.map(({ name }) => name));
    for (const { name } of running) others.delete(name);
    const directories = [paths.hostsFile, ...[...others].map((name) => paths.containerLogs(name))];
    const sizes = await Promise.all(directories.map((path) => this.#directory(path, this.#filesPeriodMs, asked)));
    return [...sizes.map(sizeOf), ...ended.map(({ id }) => asked.layers.get(id) ?? nothing)];
  }

  async #volumes(uid: string, asked: Asked, signal: AbortSignal): Promise<readonly { readonly usage: VolumeUsage; readonly isLocal: boolean }[]> {
    const { podOf, roots, usage, volumePeriodMs, clock } = this.#deps;
    const pod = podOf(uid);
    if (pod === undefined || volumePeriodMs <= 0) return [];
    const found = measuredVolumes(roots, pod).map(async ({ name, path, inMemory, isLocalEphemeral }) => {
      const size = await this.#directory(path, volumePeriodMs, asked);
      if (size === undefined) return [];
      const whole = inMemory ? roomUsage(await usage.filesystem(path, signal), clock.now()) : asked.nodeFs;
      return [{ usage: { name, claim: undefined, ...partUsage(whole, sizeOf(size)) }, isLocal: isLocalEphemeral }];
    });
    return (await Promise.all(found)).flat();
  }

  #directory(path: string, maxAgeMs: number, asked: Asked): Promise<DirectoryUsage | undefined> {
    asked.directories.add(path);
    return this.#sizes.of(path, maxAgeMs);
  }

  async #room(found: RuntimeFilesystem | undefined, signal: AbortSignal): Promise<FilesystemRoom | undefined> {
    return found === undefined ? undefined : await this.#deps.usage.filesystem(found.mountpoint, signal);
  }

  #cpu(cgroup: string | undefined, used: CgroupUsage | undefined, atMs: number) {
    return cpuUsage(used, atMs, cgroup === undefined ? undefined : this.#rates.of(cgroup, atMs, used?.cpu.totalNanos));
  }

  #withRuntime<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    return withDeadline('the figures of the runtime', runtimeDeadlineMs, this.#deps.clock, signal, ask);
  }
}

interface Asked {
  readonly layers: ReadonlyMap<string, LayerUsage>;
  readonly nodeFs: FilesystemUsage;
  readonly containerFs: FilesystemUsage;
  readonly swapBytes: number;
  /** All that were looked at: what is kept of others is forgotten. */
  readonly cgroups: Set<string>;
  readonly directories: Set<string>;
}

type Used = Pick<LayerUsage, 'usedBytes' | 'inodesUsed'>;

const noPressure = { cpu: undefined, memory: undefined, io: undefined };
const nothing: Used = { usedBytes: undefined, inodesUsed: undefined };

function sizeOf(size: DirectoryUsage | undefined): Used {
  return size === undefined ? nothing : { usedBytes: size.bytes, inodesUsed: size.inodes };
}

function runtimeFs(found: RuntimeFilesystem | undefined, room: FilesystemRoom | undefined, atMs: number): FilesystemUsage {
  return partUsage(roomUsage(room, atMs), { usedBytes: found?.usedBytes, inodesUsed: found?.inodesUsed, atMs: found?.atMs ?? atMs });
}

/** A runtime that does not say where its files are has them where ours are. */
function layoutOf(node: FilesystemRoom | undefined, images = node, containers = images): FilesystemLayout {
  if (images?.device === node?.device) return 'one';
  return containers?.device === node?.device ? 'split' : 'images-apart';
}
