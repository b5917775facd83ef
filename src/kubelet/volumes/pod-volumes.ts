import { deepEqual } from '#api/deep-equal.ts';
import type { Pod, Volume } from '#api/types/core-v1.ts';
import type { Clock, Timer } from '#base/clock.ts';
import type { VolumeFigure } from '../metrics/storage-metrics.ts';
import type { ObjectRefKey, ObjectsPort } from '../ports/objects.ts';
import type { MountedVolume } from '../ports/volumes.ts';
import { failureOf, type VolumeFailure } from './failure-texts.ts';
import { nextRefreshMs, planVolumes, type VolumeAction, type VolumeState } from './plan.ts';
import { type VolumePlugin, VolumeSetUpFailed } from './volume-plugin.ts';
import { wantedVolumes } from './wanted.ts';

const RETRY_MS = 30_000;

interface PresentVolume extends VolumeState {
  readonly mounted: MountedVolume;
}

export interface PodVolumesDependencies {
  readonly plugins: readonly VolumePlugin[];
  readonly objects: ObjectsPort;
  readonly clock: Clock;
  /** Content of mounted volumes fell out of date: `renew` should be called. */
  readonly onStale: () => void;
  /** An object came or changed that a volume which is not there yet needs. */
  readonly onAwaited: (ref: ObjectRefKey) => void;
}

/** What was brought about, and what was not. */
export interface Progress {
  /** These hold the pod. */
  readonly missing: readonly VolumeFailure[];
  /** These go on with their old content. */
  readonly outdated: readonly VolumeFailure[];
}

/** The volumes of one pod. Its owner lets only one call run at a time. */
export class PodVolumes {
  readonly #dependencies: PodVolumesDependencies;
  readonly #watches = new Map<ObjectRefKey, () => void>();
  #pod: Pod;
  #present: ReadonlyMap<string, PresentVolume> = new Map();
  #mounted: ReadonlyMap<string, MountedVolume> = new Map();
  #timer: Timer | undefined;

  constructor(pod: Pod, dependencies: PodVolumesDependencies) {
    this.#pod = pod;
    this.#dependencies = dependencies;
  }

  get pod(): Pod {
    return this.#pod;
  }

  get mounted(): ReadonlyMap<string, MountedVolume> {
    return this.#mounted;
  }

  figures(): readonly VolumeFigure[] {
    return wantedVolumes(this.#pod.spec).flatMap((volume) => {
      const plugin = this.#pluginOf(volume)?.name;
      return plugin === undefined ? [] : [{ plugin, isMounted: this.#mounted.has(volume.name) }];
    });
  }

  /** Takes a newer pod; the volumes that show it become stale. */
  update(pod: Pod): void {
    const previous = this.#pod;
    if (pod === previous) return;
    this.#pod = pod;
    const { labels, annotations } = pod.metadata;
    if (deepEqual(labels, previous.metadata.labels) && deepEqual(annotations, previous.metadata.annotations)) return;
    this.#markStale((volume, plugin) => plugin.readsPod(volume));
  }

  /** Asks ahead for what the volumes will be made of. Changes nothing on the node. */
  async prepare(signal: AbortSignal): Promise<void> {
    const wanted = wantedVolumes(this.#pod.spec);
    this.#follow(wanted);
    await Promise.allSettled(wanted.map((volume) => this.#pluginOf(volume)?.prepare?.(volume, this.#pod, signal)));
  }

  /** Sets up what is missing and renews what is stale, all beside each other. */
  bringUpToDate(signal: AbortSignal): Promise<Progress> {
    return this.#work(() => true, signal);
  }

  /** Renews what is stale and leaves alone what is missing. */
  renew(signal: AbortSignal): Promise<Progress> {
    return this.#work(({ kind }) => kind === 'refresh', signal);
  }

  async #work(counts: (action: VolumeAction) => boolean, signal: AbortSignal): Promise<Progress> {
    const wanted = wantedVolumes(this.#pod.spec);
    this.#follow(wanted); // before anything is read: no change falls between the read and the watch
    const actions = planVolumes(wanted, this.#present, this.#dependencies.clock.now()).filter(counts);
    const failures = await Promise.all(actions.map(async (action) => ({ kind: action.kind, failure: await this.#carryOut(action, signal) })));
    this.#schedule();
    const of = (kind: VolumeAction['kind']) => failures.flatMap((one) => (one.kind === kind && one.failure !== undefined ? [one.failure] : []));
    return { missing: of('set-up'), outdated: of('refresh') };
  }

  /** Follows nothing any more. */
  close(): void {
    this.#timer?.cancel();
    for (const forget of this.#watches.values()) forget();
    this.#watches.clear();
  }

  async #carryOut({ volume }: VolumeAction, signal: AbortSignal): Promise<VolumeFailure | undefined> {
    const before = this.#present.get(volume.name);
    if (before !== undefined) this.#set(volume.name, { ...before, isStale: false }); // a change from here on counts again
    try {
      const plugin = this.#pluginOf(volume);
      if (plugin === undefined) throw unsupported(volume);
      const { refreshAtMs, ...made } = await plugin.setUp(volume, this.#pod, signal);
      const isStale = this.#present.get(volume.name)?.isStale ?? false;
      this.#set(volume.name, { mounted: before?.mounted ?? { name: volume.name, ...made }, isStale, refreshAtMs });
      return undefined;
    } catch (error) {
      if (before !== undefined) this.#set(volume.name, { ...before, isStale: true, refreshAtMs: this.#later(before.refreshAtMs) });
      return failureOf(volume.name, error);
    }
  }

  /** A renewal that failed is not tried again at once. */
  #later(refreshAtMs: number | undefined): number | undefined {
    return refreshAtMs === undefined ? undefined : Math.max(refreshAtMs, this.#dependencies.clock.now() + RETRY_MS);
  }

  #set(name: string, volume: PresentVolume): void {
    const isNew = !this.#present.has(name);
    this.#present = new Map([...this.#present, [name, volume]]);
    if (isNew) this.#mounted = new Map([...this.#mounted, [name, volume.mounted]]);
  }

  #follow(wanted: readonly Volume[]): void {
    const { namespace } = this.#pod.metadata;
    for (const ref of wanted.flatMap((volume) => this.#pluginOf(volume)?.refs(volume, namespace) ?? [])) {
      if (!this.#watches.has(ref))
        this.#watches.set(
          ref,
          this.#dependencies.objects.watch(ref, () => this.#changed(ref)),
        );
    }
  }

  #changed(ref: ObjectRefKey): void {
    const { namespace } = this.#pod.metadata;
    const uses = (volume: Volume, plugin: VolumePlugin) => plugin.refs(volume, namespace).includes(ref);
    if (this.#markStale(uses)) this.#dependencies.onStale();
    const isAwaited = wantedVolumes(this.#pod.spec).some((volume) => {
      const plugin = this.#pluginOf(volume);
      return plugin !== undefined && !this.#present.has(volume.name) && uses(volume, plugin);
    });
    if (isAwaited) this.#dependencies.onAwaited(ref);
  }

  /** @returns whether there was one */
  #markStale(matches: (volume: Volume, plugin: VolumePlugin) => boolean): boolean {
    let found = false;
    for (const volume of wantedVolumes(this.#pod.spec)) {
      const present = this.#present.get(volume.name);
      const plugin = this.#pluginOf(volume);
      if (present === undefined || plugin === undefined || !matches(volume, plugin)) continue;
      this.#set(volume.name, { ...present, isStale: true });
      found = true;
    }
    return found;
  }

  #schedule(): void {
    this.#timer?.cancel();
    const atMs = nextRefreshMs(this.#present.values());
    const { clock, onStale } = this.#dependencies;
    this.#timer = atMs === undefined ? undefined : clock.after(Math.max(0, atMs - clock.now()), onStale);
  }

  #pluginOf(volume: Volume): VolumePlugin | undefined {
    return this.#dependencies.plugins.find((plugin) => plugin.supports(volume));
  }
}

const noGitRepo = 'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`';

function unsupported(volume: Volume): VolumeSetUpFailed {
  if (volume.gitRepo !== undefined) return new VolumeSetUpFailed({ message: noGitRepo, hint: 'clone into an emptyDir by an init container' });
  const { name: _name, ...source } = volume;
  const [type = 'empty'] = Object.keys(source);
  return new VolumeSetUpFailed({ message: `volumes of type ${type} are not supported by this node`, hint: 'use another type of volume' });
}
