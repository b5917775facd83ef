import { messageOf } from '#base/errors.ts';
import { type Watchable, waitFor } from '#base/watchable.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { NodeAllocations } from '../allocations/create-allocations.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { takeDownOrphans } from '../pod-workers/housekeeping.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import type { EventsPort } from '../ports/events.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { PodCgroups } from '../resources/pod-cgroups.ts';
import type { ImageCleaner } from '../runtime/images/image-cleaner.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import { type Chore, doChores } from './chores.ts';
import { collectGarbage, type GarbageDeps } from './collect-garbage.ts';
import { followDeaths } from './dead-containers.ts';
import { LogLinks } from './log-links.ts';
import { rotateLogs } from './rotate-logs.ts';

export interface UpkeepParts {
  readonly workers: Pick<PodWorkers, 'has' | 'knownUids' | 'keepsNothing' | 'remainsOf' | 'takeDownOrphan'>;
  readonly cache: RuntimeCache;
  readonly runtime: RuntimePort;
  readonly cgroups: { readonly pods: Pick<PodCgroups, 'orphans'> };
  readonly pods: { refreshCgroups(signal: AbortSignal): Promise<void> };
  readonly allocations: Pick<NodeAllocations, 'reconcile'>;
  readonly images: Pick<ImageCleaner, 'collect'>;
  readonly recorder: Pick<EventRecorder, 'emit'>;
  readonly events: EventsPort;
  /** Every source of pods has spoken: only then somebody belongs to nobody. */
  readonly sourcesReady: Watchable<boolean>;
  /** Containers are being started. */
  readonly busy: Watchable<boolean>;
}

type UpkeepConfig = Pick<KubeletConfig, 'nodeName' | 'roots' | 'timings' | 'configuration'>;
type UpkeepHost = Pick<KubeletHost, 'clock' | 'logger' | 'files' | 'httpGet'>;

/** What keeps the node in order beside the pods' own lives. */
export interface Upkeep {
  /** Until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** For a disk that is full: dead containers too that are kept otherwise, those of pods that have ended. */
  removeDeadContainers(signal: AbortSignal): Promise<void>;
}

export function createUpkeep(config: UpkeepConfig, host: UpkeepHost, parts: UpkeepParts): Upkeep {
  const { clock, logger, files } = host;
  const { cache, workers, sourcesReady, busy } = parts;
  const { garbageRules } = config.timings;
  const keepsNothing = (uid: string) => sourcesReady.get() && workers.keepsNothing(uid);
  const hasEnded = (uid: string) => sourcesReady.get() && workers.remainsOf(uid) === 'stopped';
  const garbage: GarbageDeps = { ...parts, files, clock, logger, http: host.httpGet, rules: garbageRules, keepsNothing };
  const { containerLogs: directory, podLogs } = config.roots;
  const links = directory === undefined ? undefined : new LogLinks({ cache, files, busy, clock, logger, directory, podLogs });
  return {
    async run(signal) {
      const keepPerName = Math.max(1, garbageRules.keepPerName); // its last run must be there to be told of
      await Promise.all([
        doChores(choresOf(config, host, parts, garbage, links), clock, logger, signal),
        followDeaths({ ...garbage, busy, keepPerName }, signal),
        links?.follow(signal),
      ]);
    },
    removeDeadContainers: (signal) => collectGarbage({ ...garbage, keepsNothing: hasEnded }, signal),
  };
}

/** Upstream's. */
const cgroupsEveryMs = 60_000;

function choresOf(
  { nodeName, roots, timings, configuration }: UpkeepConfig,
  { files, clock, logger }: UpkeepHost,
  { workers, cache, runtime, cgroups, pods, allocations, images, recorder, sourcesReady }: UpkeepParts,
  garbage: GarbageDeps,
  links: LogLinks | undefined,
): readonly Chore[] {
  const node = { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
  return [
    {
      name: 'orphans',
      everyMs: timings.housekeepingMs,
      async run(signal) {
        await waitFor(sourcesReady, (ready) => ready, signal); // before that everything is an orphan
        const orphanCgroups = (known: ReadonlySet<string>, inner: AbortSignal) => cgroups.pods.orphans(known, inner);
        await takeDownOrphans({ workers, cache, files, roots, orphanCgroups }, signal);
      },
    },
    {
      name: 'cgroups',
      everyMs: cgroupsEveryMs,
      async run(signal) {
        await waitFor(sourcesReady, (ready) => ready, signal); // before that the tiers would be weighed without their pods
        await pods.refreshCgroups(signal);
      },
    },
    {
      name: 'allocations',
      everyMs: configuration.cpuManagerReconcilePeriod,
      async run(signal) {
        await waitFor(sourcesReady, (ready) => ready, signal);
        await allocations.reconcile(runtime, (uid) => workers.has(uid), signal);
      },
    },
    {
      name: 'garbage',
      everyMs: timings.garbageMs,
      async run(signal) {
        try {
          await collectGarbage(garbage, signal);
        } catch (error) {
          if (!signal.aborted) recorder.emit(node, { type: 'Warning', reason: 'ContainerGCFailed', message: messageOf(error) });
          throw error;
        }
      },
    },
    ...(links === undefined ? [] : [{ name: 'log links', everyMs: timings.garbageMs, run: (signal: AbortSignal) => links.lookAtAll(signal) }]),
    { name: 'images', everyMs: timings.imageGcMs, run: (signal) => images.collect(signal) },
    {
      name: 'logs',
      everyMs: timings.logRotationMs,
      run: (signal) => rotateLogs({ runtime, cache, files, clock, logger, settings: timings.logRotation }, signal),
    },
  ];
}
