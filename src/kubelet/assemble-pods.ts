import type { Registry } from 'prom-client';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { StartupRecorder } from '#startup/recorder.ts';
import type { TransitionListener } from '#startup/transition.ts';
import { createNodeSpace } from './admission/create-node-room.ts';
import type { NodeAllocations } from './allocations/create-allocations.ts';
import { withDeviceHealth } from './allocations/devices/device-health.ts';
import type { NodeStrain } from './eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from './kubelet-config.ts';
import type { PodMetrics } from './metrics/pod-metrics.ts';
import type { ProbeCounts } from './metrics/probe-metrics.ts';
import { createStorageMetrics } from './metrics/storage-metrics.ts';
import type { RuntimeWatch } from './node/runtime-state.ts';
import { type ClusterObjects, followClusterObjects } from './objects/cluster-objects.ts';
import type { FollowedObjects } from './objects/objects.ts';
import { createTokens } from './objects/tokens.ts';
import { createPodEngine, type EngineDeps, type PodEngine } from './pod-engine.ts';
import { logObserver } from './pod-start/observers/log.ts';
import { metricsObserver } from './pod-start/observers/metrics.ts';
import { describeSteps } from './pod-start/observers/record.ts';
import type { AnyStep } from './pod-start/step.ts';
import type { WakeBus } from './pod-workers/wake-bus.ts';
import type { EventsPort } from './ports/events.ts';
import type { HostFacts } from './ports/host.ts';
import type { RuntimePort } from './ports/runtime.ts';
import type { TokensPort } from './ports/tokens.ts';
import { createProbeManager, type ProbeManager } from './probes/probe-manager.ts';
import { type NodeCgroups, podCgroupsPort } from './resources/node-cgroups.ts';
import { createNodeConfig } from './runtime/create-node-config.ts';
import { createHostDns } from './runtime/host-dns.ts';
import { DownloadFollower } from './runtime/images/follow-downloads.ts';
import type { ImageMetrics } from './runtime/images/image-metrics.ts';
import { createNodeCredentials } from './runtime/images/node-credentials.ts';
import type { NodeConfig } from './runtime/node-config.ts';
import type { RuntimeCache } from './runtime/runtime-cache.ts';
import type { StatsProvider } from './stats/stats-provider.ts';
import { createVolumeManager, type VolumeManager } from './volumes/volume-manager.ts';

/** What the node has that its pods need. */
export interface NodeParts {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly runtimeWatch: RuntimeWatch;
  readonly hostFacts: HostFacts;
  readonly cgroups: NodeCgroups;
  readonly allocations: NodeAllocations;
  readonly events: EventsPort;
  readonly objects: FollowedObjects;
  readonly stats: StatsProvider;
  readonly strain: NodeStrain;
  readonly registry: Registry;
  /** Of `/metrics/probes`. */
  readonly probeRegistry: Registry;
  readonly imageMetrics: ImageMetrics;
  readonly podMetrics: PodMetrics;
  readonly probeCounts: ProbeCounts;
  /** As the API server has it; `undefined` until it is registered. */
  readonly node: () => Node | undefined;
}

export interface AssembledPods {
  readonly engine: PodEngine;
  readonly startups: StartupRecorder;
  /** Once a minute, when the pods are known. */
  refreshCgroups(signal: AbortSignal): Promise<void>;
  /** After the engine is closed. */
  close(): Promise<void>;
}

const recordKeep = 500;

/** The engine of the pods, joined with the parts that it asks for. */
export function assemblePods(config: KubeletConfig, host: KubeletHost, parts: NodeParts): AssembledPods {
  const { client, clock, logger, random, files } = host;
  const { runtime, cache, runtimeWatch, events, objects, cgroups, registry, allocations } = parts;
  const probes = probesOf(config, host, parts);
  const tokens = createTokens({ client, clock, logger, random });
  const credentials = createNodeCredentials(config, host, tokens, registry);
  const clusterObjects = followClusterObjects({ client, clock, logger });
  const { clusterDomain, clusterDns, expectsClusterDns, nodeAddress, configuration } = config;
  const hostDns = createHostDns({ files, resolvConf: configuration.resolvConf, nodeAddress, clusterDomain, clusterDns, expectsClusterDns });
  const made: { volumes?: VolumeManager; startups?: StartupRecorder } = {};
  const { room, resizer } = createNodeSpace(config, host, parts, () => engine);
  const podCgroups = podCgroupsPort(cgroups.pods, resizer, () => unfinished(engine).map((pod) => room.held(pod.metadata.uid) ?? pod));
  const engine: PodEngine = createPodEngine({
    client,
    runtime,
    cache,
    network: runtimeWatch.network,
    runtimeReady: runtimeWatch.runtimeReady,
    files,
    objects,
    events,
    probes,
    http: host.httpGet,
    cgroups: podCgroups,
    room,
    statusExtras: withDeviceHealth(resizer, allocations),
    resizes: resizer,
    createVolumes: (wake) => {
      made.volumes = volumeManager(config, host, parts, tokens, wake);
      return made.volumes;
    },
    runtimeHandlerOf: (pod, signal) => clusterObjects.runtimeHandler(pod, signal),
    node: nodeConfig(config, host, parts, clusterObjects),
    dns: (signal) => hostDns.read(signal),
    roots: config.roots,
    nodeCredentials: credentials.of,
    downloads: new DownloadFollower({ source: host.downloads, tell: (...pull) => made.startups?.notePull(...pull), clock, logger }),
    imageMetrics: parts.imageMetrics,
    counts: parts.podMetrics,
    runtimeName: 'containerd',
    clock,
    logger,
    random,
    settings: config.timings.engine,
    faults: host.faults,
    observers: (steps) => {
      made.startups = startupRecorder(config, host, steps);
      return { record: made.startups.record, log: logObserver(logger), ...meters(parts, steps) };
    },
  } satisfies EngineDeps);
  allocations.onAffected((uid) => engine.workers.wake(uid));
  const { startups, volumes } = made;
  if (startups === undefined || volumes === undefined) throw new Error('the engine asks for observers and volumes while it is made');
  return {
    engine,
    startups,
    refreshCgroups: podCgroups.refresh,
    async close() {
      resizer.close();
      credentials.close();
      await probes.close();
      await startups.close();
      await volumes[Symbol.asyncDispose]();
      await clusterObjects[Symbol.asyncDispose]();
    },
  };
}

function probesOf(
  { nodeAddress: hostIp, version }: KubeletConfig,
  host: KubeletHost,
  { cache, events, probeCounts: counts }: NodeParts,
): ProbeManager {
  const { runtime, probers, clock, logger, random } = host;
  const minor = version.replace(/^v(\d+\.\d+).*$/, '$1');
  return createProbeManager({ pods: cache, runtime, probers, events, counts, hostIp, version: minor, clock, logger, random });
}

function meters({ registry, podMetrics }: NodeParts, steps: readonly AnyStep[]): Readonly<Record<string, TransitionListener>> {
  const ends = { first: steps[0]?.name ?? '', last: steps.at(-1)?.name ?? '' };
  return { metrics: metricsObserver(registry), starts: podMetrics.observer(ends) };
}

function startupRecorder({ nodeName }: KubeletConfig, { clock, logger, ship }: KubeletHost, steps: readonly AnyStep[]): StartupRecorder {
  const settings = { nodeName, watchedPeriodMs: 100, idlePeriodMs: 1000, lastStep: steps.at(-1)?.name ?? '', keep: recordKeep };
  return new StartupRecorder(settings, { describe: describeSteps(steps), clock, logger, ship });
}

function volumeManager(
  config: KubeletConfig,
  host: KubeletHost,
  { events, objects, node, registry }: NodeParts,
  tokens: TokensPort,
  wake: WakeBus,
): VolumeManager {
  const { clock, logger, random, files, mounter } = host;
  const manager: VolumeManager = createVolumeManager({
    measured: createStorageMetrics(registry, clock, () => manager.figures()),
    files,
    mounter,
    objects,
    tokens,
    roots: { root: config.roots.root, memory: config.memoryVolumes },
    clock,
    logger,
    random,
    allocatable: () => node()?.status?.allocatable ?? {},
    events,
    wake,
  });
  return manager;
}

function nodeConfig(
  config: KubeletConfig,
  host: KubeletHost,
  { cgroups, allocations, node, runtimeWatch }: NodeParts,
  objects: ClusterObjects,
): NodeConfig {
  const { clusterDomain, nodeAddress, configuration } = config;
  const { files, runtime, clock } = host;
  return createNodeConfig({
    clusterDomain,
    nodeAddress,
    seccompDefault: configuration.seccompDefault,
    userIdsPerPod: configuration.userNamespaces.idsPerPod,
    allocatable: () => node()?.status?.allocatable ?? {},
    resources: cgroups.options.container,
    allocations: allocations.port,
    objects,
    files,
    runtime,
    handlers: () => runtimeWatch.state.get().handlers,
    clock,
  });
}

function unfinished({ workers }: PodEngine): readonly Pod[] {
  return workers.pods().filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}
