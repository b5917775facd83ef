import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { Watchable } from '#base/watchable.ts';
import type { Client } from '#client/client.ts';
import type { TransitionListener } from '#startup/transition.ts';
import type { KubeletRoots } from './paths.ts';
import { createPodDirectories } from './pod-directories.ts';
import type { FaultPoint } from './pod-start/fault-points.ts';
import { eventsObserver } from './pod-start/observers/events.ts';
import { joinObservers } from './pod-start/observers/join.ts';
import { statusObserver } from './pod-start/observers/status.ts';
import { type podStart, podStart as startList } from './pod-start/pod-start.ts';
import type { AnyStep } from './pod-start/step.ts';
import { defaultWorkerSettings, type WorkerSettings } from './pod-workers/pod-worker.ts';
import { PodWorkers } from './pod-workers/pod-workers.ts';
import { WakeBus } from './pod-workers/wake-bus.ts';
import type { EventsPort } from './ports/events.ts';
import type { FilesPort } from './ports/files.ts';
import type { HttpGetPort } from './ports/http-get.ts';
import type { NetworkState } from './ports/node-facts.ts';
import type { NodeRoomPort } from './ports/node-room.ts';
import type { ObjectsPort } from './ports/objects.ts';
import type { PodCgroupsPort } from './ports/pod-cgroups.ts';
import { noPodCounts, type PodCounts } from './ports/pod-counts.ts';
import type { ProbesPort } from './ports/probes.ts';
import type { ResizesPort } from './ports/resizes.ts';
import type { RuntimePort } from './ports/runtime.ts';
import type { StatusExtras } from './ports/status-extras.ts';
import type { VolumesPort } from './ports/volumes.ts';
import type { DnsDefaults } from './runtime/dns-config.ts';
import type { DownloadFollower } from './runtime/images/follow-downloads.ts';
import { type ImageMetrics, noImageMetrics } from './runtime/images/image-metrics.ts';
import { ImagePuller, type ImagePullerSettings } from './runtime/images/image-puller.ts';
import type { NodeCredentials } from './runtime/images/image-pulls.ts';
import type { PullRecords } from './runtime/images/pull-records.ts';
import { defaultImagePullerSettings } from './runtime/images/puller-settings.ts';
import type { NodeConfig } from './runtime/node-config.ts';
import type { ProbeVerdicts } from './runtime/pod-actions.ts';
import { PodRuntime } from './runtime/pod-runtime.ts';
import { emptyState, type PodRuntimeState } from './runtime/pod-runtime-state.ts';
import { ReasonCache } from './runtime/reason-cache.ts';
import type { RuntimeCache } from './runtime/runtime-cache.ts';
import type { StartSettings } from './runtime/start-container/start-container.ts';
import { StartTroubles } from './status/start-troubles.ts';
import { defaultStatusManagerSettings, StatusManager, type StatusManagerSettings } from './status/status-manager.ts';
import { StatusReporter } from './status/status-reporter.ts';
import type { VolumeManager } from './volumes/volume-manager.ts';

export interface EngineSettings {
  readonly worker: WorkerSettings;
  readonly status: StatusManagerSettings;
  readonly start: StartSettings;
  readonly images: ImagePullerSettings;
}

/** Upstream's numbers. */
export const defaultEngineSettings: EngineSettings = {
  worker: defaultWorkerSettings,
  status: defaultStatusManagerSettings,
  start: { crashBackoff: { baseMs: 10_000, maxMs: 300_000, forgetAfterMs: 600_000 }, retryMs: 10_000 },
  images: defaultImagePullerSettings,
};

/** What the pods of a node need of it and of the cluster. */
export interface EngineDeps {
  readonly client: Client;
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly network: Watchable<NetworkState>;
  readonly runtimeReady: Watchable<boolean>;
  readonly files: FilesPort;
  readonly objects: ObjectsPort;
  readonly events: EventsPort;
  readonly probes: ProbesPort;
  readonly cgroups: PodCgroupsPort;
  readonly room: NodeRoomPort;
  readonly http: HttpGetPort;
  /** Made here because it wakes pods and pods need it. */
  readonly createVolumes: (wake: WakeBus) => VolumesPort & Pick<VolumeManager, 'prepare'>;
  readonly runtimeHandlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
  readonly node: NodeConfig;
  readonly dns: (signal: AbortSignal) => Promise<DnsDefaults>;
  readonly roots: KubeletRoots;
  /** For registries, beside the pods' own secrets; absent: none. */
  readonly nodeCredentials?: NodeCredentials;
  readonly imageMetrics?: ImageMetrics;
  readonly downloads?: DownloadFollower | undefined;
  readonly counts?: PodCounts;
  readonly runtimeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly settings: EngineSettings;
  readonly faults?: FaultPoint | undefined;
  /** What parts that hand out the node's resources add to statuses. */
  readonly statusExtras?: StatusExtras;
  readonly resizes?: ResizesPort | undefined;
  /** More readers of the transitions, by name. */
  readonly observers: (steps: readonly AnyStep[]) => Readonly<Record<string, TransitionListener>>;
}

/** Everything that runs pods: give it pods, and it starts, keeps and stops them. */
export interface PodEngine {
  readonly workers: PodWorkers;
  readonly wake: WakeBus;
  readonly pipeline: ReturnType<typeof podStart>;
  readonly status: StatusManager;
  readonly pullRecords: PullRecords;
  /** Ends the loops; the pods stay as they are. */
  close(): Promise<void>;
}

export function createPodEngine(deps: EngineDeps): PodEngine {
  const { cache, clock, logger, events, probes, settings, files, roots } = deps;
  const reasons = new ReasonCache();
  const wake = new WakeBus({ objects: deps.objects, network: deps.network });
  const volumes = deps.createVolumes(wake);
  const { nodeCredentials = async () => [], imageMetrics = noImageMetrics, counts = noPodCounts } = deps;
  const images = new ImagePuller({ ...deps, nodeCredentials, metrics: imageMetrics, wake, settings: settings.images });
  const runtime = new PodRuntime({ ...deps, images, reasons, volumes, settings: settings.start, randomName: () => hex8(deps.random()) });
  const status = new StatusManager({ client: deps.client, counts, clock, logger, settings: settings.status });
  const verdicts: ProbeVerdicts = (containerId, kind) => probes.result(containerId, kind);
  const troubles = new StartTroubles();
  const reporter = new StatusReporter({
    cache,
    reasons,
    verdicts,
    troubles,
    extras: deps.statusExtras,
    manager: status,
    events,
    clock,
    hostIPs: deps.node.hostIPs,
    runtimeName: deps.runtimeName,
    standingOf: (uid) => workers.standingOf(uid),
  });
  const pipeline = startList({
    node: deps.room,
    runtime,
    cgroups: deps.cgroups,
    files: createPodDirectories(files, roots),
    volumes,
    images,
    status: reporter,
  });
  const observers = {
    troubles: troubles.observe,
    status: statusObserver(reporter),
    events: eventsObserver(pipeline.steps, events, clock),
    ...deps.observers(pipeline.steps),
  };
  const emit = joinObservers(observers, logger);
  const workers: PodWorkers = createWorkers(deps, { pipeline, emit, verdicts, wake, reporter, status, runtime, volumes });
  const changed = (uid: string) => {
    reporter.report(uid, 'soon');
    workers.wake(uid);
  };
  const unsubscribes = [cache.subscribe(changed), probes.subscribe(changed)];
  return {
    workers,
    wake,
    pipeline,
    status,
    pullRecords: images.records,
    async close() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      await workers.close();
      await images.close();
      await status.close();
    },
  };
}

interface Parts {
  readonly pipeline: ReturnType<typeof podStart>;
  readonly emit: TransitionListener;
  readonly verdicts: ProbeVerdicts;
  readonly wake: WakeBus;
  readonly reporter: StatusReporter;
  readonly status: StatusManager;
  readonly runtime: PodRuntime;
  readonly volumes: Pick<VolumeManager, 'prepare'>;
}

function createWorkers(deps: EngineDeps, parts: Parts): PodWorkers {
  const { clock, logger, settings, random, cache, probes, faults, resizes, counts = noPodCounts } = deps;
  const { pipeline, emit, verdicts, wake, reporter, status, runtime, volumes } = parts;
  const withSizes = (state: PodRuntimeState) => resizes?.observed(state) ?? state;
  return new PodWorkers({
    pipeline,
    runner: { clock, emit, faults },
    runtimeReady: deps.runtimeReady,
    clock,
    logger,
    settings: settings.worker,
    random,
    verdicts,
    observe: (pod) => withSizes(cache.get(pod.uid) ?? emptyState(pod)),
    needsSync: (uid) => resizes?.needsSync(uid) ?? false,
    subscribe: (keys, whenWoken) => wake.subscribe(keys, whenWoken),
    replacing: (uid, containers) => {
      for (const container of containers) cache.hold(uid, container, 'replacing');
    },
    settled: (uid) => cache.release(uid),
    report: (uid) => reporter.report(uid, 'now'),
    counts,
    prepare: (pod) => volumes.prepare(pod),
    probe: (pod) => probes.ensure(pod),
    stopping: ({ metadata: { uid } }) => {
      cache.release(uid); // from now on ends are ends
      probes.stopRestarting(uid);
      reporter.report(uid, 'now');
    },
    stopped: (pod, reason) => {
      probes.remove(pod.metadata.uid);
      reporter.report(pod.metadata.uid, 'now');
      if (reason !== 'orphan') status.finish(pod); // of an orphan there is no object to tell
    },
    seen: (pod) => {
      counts.observed(pod);
      status.seen(pod);
      if ((pod.spec?.readinessGates ?? []).length > 0) reporter.report(pod.metadata.uid, 'now'); // others open and close them
    },
    gone: (uid) => {
      counts.gone(uid);
      status.forget(uid);
      runtime.forget(uid);
    },
  });
}

function hex8(random: number): string {
  return Math.floor(random * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}
