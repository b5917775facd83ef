import type { Pod } from '#api/types/core-v1.ts';
import { Backoff } from '#base/backoff.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { VolumeFigure } from '../metrics/storage-metrics.ts';
import type { EventsPort } from '../ports/events.ts';
import type { SubPath, VolumesOutcome, VolumesPort } from '../ports/volumes.ts';
import type { WakePort } from '../ports/wake.ts';
import { failureText, type VolumeFailure, waitFor } from './failure-texts.ts';
import type { PluginDependencies } from './plugins/plugin-dependencies.ts';
import { volumePlugins } from './plugins/plugins.ts';
import { PodVolumes } from './pod-volumes.ts';
import { Serial } from './serial.ts';
import { prepareSubPath, removeSubPaths } from './sub-paths.ts';
import { podVolumes } from './volume-paths.ts';
import { type VolumePlugin, VolumeStays } from './volume-plugin.ts';

export interface VolumeManagerDependencies extends PluginDependencies {
  /** Told of content that could not be renewed in a running pod. */
  readonly events: EventsPort;
  /** Told when an object came that a waiting pod needs. */
  readonly wake: WakePort;
  /** The same plugin; what it does is timed. */
  readonly measured?: (plugin: VolumePlugin) => VolumePlugin;
}

export interface VolumeManager extends VolumesPort, AsyncDisposable {
  /** Starts to fetch objects and tokens of a pod that will come to its volumes soon. May be left out; `release` ends it. */
  prepare(pod: Pod): void;
  figures(): readonly VolumeFigure[];
}

/** What nothing but time may mend is tried again after 0.5 s, doubled to 2 minutes. Source: upstream's volume operations. */
const RETRY = { baseMs: 500, maxMs: 122_000, forgetAfterMs: 600_000 };

export function createVolumeManager(dependencies: VolumeManagerDependencies): VolumeManager {
  return new Manager(dependencies);
}

interface Managed {
  readonly volumes: PodVolumes;
  readonly serial: Serial;
}

class Manager implements VolumeManager {
  readonly #dependencies: VolumeManagerDependencies;
  readonly #plugins: readonly VolumePlugin[];
  readonly #pods = new Map<string, Managed>();
  readonly #retries: Backoff;
  readonly #tasks: TaskGroup;

  constructor(dependencies: VolumeManagerDependencies) {
    this.#dependencies = dependencies;
    const { measured = (plugin) => plugin } = dependencies;
    this.#plugins = volumePlugins(dependencies).map(measured);
    this.#retries = new Backoff(RETRY, dependencies.clock);
    this.#tasks = new TaskGroup((what, error) => dependencies.logger.error('volumes could not be renewed', { what, error: messageOf(error) }));
  }

  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome> {
    const { volumes, serial } = this.#managed(pod);
    return serial.run(async () => {
      volumes.update(pod);
      const { missing, outdated } = await volumes.bringUpToDate(signal);
      this.#tell(pod, outdated);
      if (missing.length > 0) return waitFor(missing, () => this.#retries.advance(pod.metadata.uid));
      this.#retries.forget(pod.metadata.uid);
      return { kind: 'mounted', volumes: volumes.mounted };
    });
  }

  prepare(pod: Pod): void {
    const { volumes } = this.#managed(pod);
    this.#tasks.run(`pod ${pod.metadata.uid}`, (signal) => volumes.prepare(signal));
  }

  figures(): readonly VolumeFigure[] {
    return [...this.#pods.values()].flatMap(({ volumes }) => volumes.figures());
  }

  async find(podUid: string, signal: AbortSignal): Promise<readonly string[]> {
    const names = await Promise.all(this.#plugins.map((plugin) => plugin.reconstruct(podUid, signal)));
    return names.flat();
  }

  async release(podUid: string, signal: AbortSignal): Promise<void> {
    const managed = this.#pods.get(podUid);
    managed?.volumes.close();
    this.#retries.forget(podUid);
    await (managed?.serial ?? new Serial()).run(() => this.#takeDown(podUid, signal));
    this.#pods.delete(podUid);
  }

  prepareSubPath(subPath: SubPath, signal: AbortSignal): Promise<string> {
    return prepareSubPath(this.#dependencies, subPath, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { volumes } of this.#pods.values()) volumes.close();
    await this.#tasks.close();
  }

  #managed(pod: Pod): Managed {
    const { uid } = pod.metadata;
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const { objects, clock, wake } = this.#dependencies;
    const volumes = new PodVolumes(pod, {
      plugins: this.#plugins,
      objects,
      clock,
      onStale: () => this.#tasks.run(`pod ${uid}`, (signal) => this.#renew(uid, signal)),
      onAwaited: (ref) => wake.signal({ kind: 'object', ref }),
    });
    const managed = { volumes, serial: new Serial() };
    this.#pods.set(uid, managed);
    return managed;
  }

  /** In a running pod; what is missing is left to its next `ensure`. */
  async #renew(podUid: string, signal: AbortSignal): Promise<void> {
    const managed = this.#pods.get(podUid);
    await managed?.serial.run(async () => {
      if (this.#pods.get(podUid) !== managed) return; // released meanwhile
      const { outdated } = await managed.volumes.renew(signal);
      this.#tell(managed.volumes.pod, outdated);
    });
  }

  #tell({ metadata }: Pod, outdated: readonly VolumeFailure[]): void {
    for (const failure of outdated)
      this.#dependencies.events.emit(metadata, { type: 'Warning', reason: 'FailedMount', message: failureText(failure) });
  }

  async #takeDown(podUid: string, signal: AbortSignal): Promise<void> {
    const { files, mounter, roots } = this.#dependencies;
    await removeSubPaths(this.#dependencies, podUid, signal);
    for (const plugin of this.#plugins) {
      for (const name of await plugin.reconstruct(podUid, signal)) await plugin.tearDown(podUid, name, signal);
    }
    const left = podVolumes(roots, podUid);
    for (const { target } of await mounter.listBelow(left.volumes, signal)) await mounter.unmount(target, signal);
    await this.#refuseFiles(left.volumes, signal);
    for (const directory of [left.volumes, left.plugins, left.memory]) await files.removeTree(directory, signal);
  }

  /** What is left now is of plugins that we do not know: empty folders are nothing, files may be all that somebody has. */
  async #refuseFiles(directory: string, signal: AbortSignal): Promise<void> {
    const { files } = this.#dependencies;
    for (const plugin of await files.list(directory, signal)) {
      for (const volume of await files.list(`${directory}/${plugin.name}`, signal)) {
        const path = `${directory}/${plugin.name}/${volume.name}`;
        if ((await files.list(path, signal)).length > 0)
          throw new VolumeStays({ message: `failed to rmdir() volume at path ${path}: directory not empty` });
      }
    }
  }
}
