import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Logger } from '#base/log.ts';
import { type KubeletRoots, podPaths } from '../paths.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { FilesystemLayout, FilesystemUsage, StatsPort, VolumeUsage } from '../ports/stats.ts';
import type { DirectoryUsage, FilesystemRoom } from '../ports/usage.ts';
import { ComputeFigures, type ComputeFiguresDeps, type PodAsFound } from './compute-figures.ts';
import { DirectorySizes } from './directory-sizes.ts';
import { countedInterfaces, type NodeCompute, type NodeFigures, type PodCompute, type PodFigures, partUsage, roomUsage, sum } from './figures.ts';
import { measuredVolumes } from './measured-volumes.ts';
import { type LayerUsage, RuntimeFigures, type RuntimeFilesystem } from './runtime-figures.ts';

export interface StatsProviderDeps extends ComputeFiguresDeps {
  readonly runtime: Pick<RuntimePort, 'listContainerStats' | 'imageFsInfo'>;
  readonly podOf: (uid: string) => Pod | undefined;
  readonly roots: KubeletRoots & { readonly memory: string };
  /** `volumeStatsAggPeriod`; not positive: volumes have no figures. */
  readonly volumePeriodMs: number;
  readonly logger: Logger;
  /** Told of each walk through a directory. */
  readonly walked?: ((tookMs: number) => void) | undefined;
}

export interface StatsProvider extends StatsPort, AsyncDisposable {
  node(signal: AbortSignal): Promise<NodeFigures>;
  pods(signal: AbortSignal): Promise<readonly PodFigures[]>;
  /** CPU and memory alone: the runtime is not asked and no directory is walked. */
  nodeCompute(signal: AbortSignal): Promise<NodeCompute>;
  podsCompute(signal: AbortSignal): Promise<readonly PodCompute[]>;
  /** Writable layers by container id. */
  layers(signal: AbortSignal): Promise<ReadonlyMap<string, LayerUsage>>;
  /** Pods with the places of their cgroups. */
  find(signal: AbortSignal): Promise<readonly PodAsFound[]>;
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
  readonly #compute: ComputeFigures;
  readonly #sizes: DirectorySizes;
  readonly #runtime: RuntimeFigures;
  /** Short volume periods, as in tests, hold for all files. */
  readonly #filesPeriodMs: number;

  constructor(deps: StatsProviderDeps) {
    this.#deps = deps;
    this.#compute = new ComputeFigures(deps);
    this.#filesPeriodMs = deps.volumePeriodMs > 0 ? Math.min(filesPeriodMs, deps.volumePeriodMs) : filesPeriodMs;
    this.#sizes = new DirectorySizes(deps);
    this.#runtime = new RuntimeFigures(deps.runtime, deps.clock, this.#filesPeriodMs);
  }

  async node(signal: AbortSignal): Promise<NodeFigures> {
    const { usage, clock, roots } = this.#deps;
    const { images, containers } = await this.#withRuntime(signal, () => this.#runtime.filesystems());
    const [compute, host, nodeRoom, interfaces, imageRoom, containerRoom] = await Promise.all([
      this.#compute.node(signal),
      usage.host(signal),
      usage.filesystem(roots.root, signal),
      usage.network(undefined, signal),
      this.#room(images, signal),
      this.#room(containers, signal),
    ]);
    const atMs = clock.now();
    return {
      ...compute,
      processes: { atMs, running: host.tasks, max: host.maxTasks },
      network: { atMs, interfaces: countedInterfaces(interfaces) },
      nodeFs: roomUsage(nodeRoom, atMs),
      imageFs: runtimeFs(images, imageRoom, atMs),
      containerFs: runtimeFs(containers, containerRoom, atMs),
      layout: layoutOf(nodeRoom, imageRoom, containerRoom),
      podsMemory: compute.pods.memory,
    };
  }

  async pods(signal: AbortSignal): Promise<readonly PodFigures[]> {
    const { usage, roots, clock } = this.#deps;
    const [layers, filesystems] = await this.#withRuntime(signal, () => Promise.all([this.#runtime.layers(), this.#runtime.filesystems()]));
    const [found, room, host, containerRoom] = await Promise.all([
      this.#compute.find(signal),
      usage.filesystem(roots.root, signal),
      usage.host(signal),
      this.#room(filesystems.containers, signal),
    ]);
    const atMs = clock.now();
    const containerFs = runtimeFs(filesystems.containers, containerRoom, atMs);
    const asked: Asked = { layers, nodeFs: roomUsage(room, atMs), containerFs, swapBytes: host.swapBytes, directories: new Set() };
    const pods = await Promise.all(found.map((pod) => this.#pod(pod, asked, signal)));
    this.#sizes.keep(asked.directories);
    return pods;
  }

  nodeCompute(signal: AbortSignal): Promise<NodeCompute> {
    return this.#compute.node(signal);
  }

  async podsCompute(signal: AbortSignal): Promise<readonly PodCompute[]> {
    const [found, host] = await Promise.all([this.#compute.find(signal), this.#deps.usage.host(signal)]);
    return await Promise.all(found.map((pod) => this.#compute.pod(pod, host.swapBytes, signal)));
  }

  layers(signal: AbortSignal): Promise<ReadonlyMap<string, LayerUsage>> {
    return this.#withRuntime(signal, () => this.#runtime.layers());
  }

  find(signal: AbortSignal): Promise<readonly PodAsFound[]> {
    return this.#compute.find(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#runtime.close();
    await this.#sizes[Symbol.asyncDispose]();
  }

  async #pod(found: PodAsFound, asked: Asked, signal: AbortSignal): Promise<PodFigures> {
    const { usage, clock, roots } = this.#deps;
    const { state, sandbox, cgroup, cgroups } = found;
    const paths = podPaths(roots, state);
    const [compute, interfaces, volumes, rest] = await Promise.all([
      this.#compute.pod(found, asked.swapBytes, signal),
      sandbox?.ready === true && !sandbox.hostNetwork ? usage.network(cgroups.get(sandbox.id) ?? cgroup, signal) : [],
      this.#volumes(state.uid, asked, signal),
      this.#otherFiles(found, asked),
    ]);
    const containers = await Promise.all(
      compute.containers.map(async (container) => ({
        ...container,
        rootFs: partUsage(asked.containerFs, asked.layers.get(container.id) ?? nothing),
        logs: partUsage(asked.nodeFs, sizeOf(await this.#directory(paths.containerLogs(container.name), this.#filesPeriodMs, asked))),
      })),
    );
    const storage = [
      ...rest,
      ...containers.flatMap(({ rootFs, logs }) => [rootFs, logs]),
      ...volumes.flatMap((one) => (one.isLocal ? [one.usage] : [])),
    ];
    return {
      ...compute,
      containers,
      network: { atMs: clock.now(), interfaces: countedInterfaces(interfaces) },
      volumes: volumes.map((one) => one.usage),
      ephemeralStorage: partUsage(asked.nodeFs, {
        usedBytes: sum(storage.map(({ usedBytes }) => usedBytes)),
        inodesUsed: sum(storage.map(({ inodesUsed }) => inodesUsed)),
      }),
    };
  }

  /** What ended containers have left, and the hosts file: it is the pod's storage too. */
  async #otherFiles({ state, running }: PodAsFound, asked: Asked): Promise<readonly Used[]> {
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
  readonly directories: Set<string>;
}

type Used = Pick<LayerUsage, 'usedBytes' | 'inodesUsed'>;

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
