import { Registry } from 'prom-client';
import { onAbort } from '#base/abort.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { type Watchable, waitFor } from '#base/watchable.ts';
import { createEventRecorder, type EventRecorder } from '#client/event-recorder.ts';
import { createAllocations } from './allocations/create-allocations.ts';
import { type AssembledPods, assemblePods, type NodeParts } from './assemble-pods.ts';
import { type Certificates, createCertificates } from './certificates/create-certificates.ts';
import type { ServerTls } from './certificates/server-identity.ts';
import { createEviction } from './eviction/create-eviction.ts';
import type { EvictionManager } from './eviction/eviction-manager.ts';
import { createNodeStrain } from './eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from './kubelet-config.ts';
import { type CountedHost, countedHost } from './metrics/counted-host.ts';
import { createPodMetrics } from './metrics/pod-metrics.ts';
import { createProbeMetrics } from './metrics/probe-metrics.ts';
import { createRelistMetrics } from './metrics/relist-metrics.ts';
import { watchNode } from './metrics/watch-node.ts';
import { createAgent } from './node/create-agent.ts';
import type { NodeAgent } from './node/node-agent.ts';
import { tellStart } from './node/node-events.ts';
import { watchRuntime } from './node/runtime-state.ts';
import { createObjects } from './objects/objects.ts';
import { podsDirectory } from './paths.ts';
import { withFaultPoints } from './pod-start/fault-points.ts';
import { withCallTimes } from './pod-start/runtime-calls.ts';
import { createNodeCgroups } from './resources/node-cgroups.ts';
import { followRuntime } from './runtime/follow-runtime.ts';
import { createImageCleaner } from './runtime/images/create-image-cleaner.ts';
import type { ImageCleaner } from './runtime/images/image-cleaner.ts';
import { createImageMetrics } from './runtime/images/image-metrics.ts';
import { limitStarts } from './runtime/limit-starts.ts';
import { RuntimeCache } from './runtime/runtime-cache.ts';
import { createServers, type KubeletServers } from './server/create-servers.ts';
import { createShutdown } from './shutdown/create-shutdown.ts';
import { createPodInformer } from './sources/api-source.ts';
import { createPodSources, type PodSources } from './sources/pod-sources.ts';
import { createStats } from './stats/create-stats.ts';
import { createUpkeep, type Upkeep } from './upkeep/create-upkeep.ts';

/** Measured with containerd 1.6 on two CPUs: four to eight starts at once are fastest, sixteen are a quarter slower. */
const startsPerCpu = 3;

interface Parts extends NodeParts {
  readonly recorder: EventRecorder;
  readonly agent: NodeAgent;
  readonly certificates: Certificates;
  readonly pods: AssembledPods;
  readonly sources: PodSources;
  readonly images: ImageCleaner;
  readonly server: KubeletServers;
  readonly port: number;
  /** Containers are being started. */
  readonly busy: Watchable<boolean>;
}

/**
 * Looks after one node's pods until the signal is aborted; the pods then stay as they are.
 *
 * @throws {Unavailable} when the server's port is taken, and errors of a host on which no pod could run
 */
export async function runKubelet(config: KubeletConfig, given: KubeletHost, signal: AbortSignal): Promise<void> {
  const { clock, logger } = given;
  const kubeletStartedAtMs = clock.now();
  const host = countedHost(given);
  const tasks = new TaskGroup((what, error) => logger.error('a part of the kubelet broke', { what, error: messageOf(error) }));
  const parts = await assemble(config, host, signal);
  const { runtime, cache, runtimeWatch, agent, recorder, pods, sources, server, port, objects, certificates } = parts;
  const informer = createPodInformer(host.client, config.nodeName, { clock, logger });
  try {
    watchNode(host, { ...config, ...parts, kubeletStartedAtMs, workers: pods.engine.workers }, signal);
    tasks.run('runtime watch', (inner) => runtimeWatch.run(inner));
    tasks.run('runtime events', (inner) => followRuntime({ runtime, cache, clock, logger, settings: config.timings.follow }, inner));
    tasks.run('node', (inner) => agent.run(inner));
    tasks.run('plugins', (inner) => parts.allocations.run(inner));
    tasks.run('certificates', (inner) => certificates.run(agent.addresses, inner));
    tasks.run('events', (inner) => recorder.run(inner));
    tasks.run('pods', (inner) => informer.run(inner));
    // Whoever starts a pod must know the node and what runs already.
    await Promise.all([waitFor(agent.expected, (node) => node !== undefined, signal), cache.synced(signal)]);
    sources.followManifests();
    const upkeep = createUpkeep(config, host, { ...parts, workers: pods.engine.workers, sourcesReady: sources.ready });
    const shutdown = createShutdown(config, host, { ...parts, workers: pods.engine.workers });
    if (shutdown !== undefined) tasks.run('shutdown', (inner) => shutdown.run(inner));
    tasks.run('eviction', (inner) => evictionOf(config, host, parts, upkeep).run(inner));
    tasks.run('upkeep', (inner) => upkeep.run(inner));
    await Promise.all([waitFor(agent.node, (node) => node !== undefined, signal), informer.synced(signal)]);
    sources.followApi(informer);
    host.onReady(port);
    await new Promise<void>((resolve) => onAbort(signal, resolve));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await server.close();
    await sources.close();
    await pods.engine.close();
    await tasks.close();
    await pods.close();
    await objects[Symbol.asyncDispose]();
    await parts.stats[Symbol.asyncDispose]();
  }
}

async function assemble(config: KubeletConfig, host: CountedHost, signal: AbortSignal): Promise<Parts> {
  const { client, clock, logger, files, registry } = host;
  const hostFacts = await host.host.facts(signal);
  // Times are of the calls themselves: the wait for a turn belongs to the step.
  const faulty = host.faults === undefined ? host.runtime : withFaultPoints(host.runtime, host.faults);
  const { runtime, busy } = limitStarts(withCallTimes(faulty, clock), startsPerCpu * hostFacts.cpus);
  const { eventRecordQPS: perSecond, eventBurst: burst } = config.configuration;
  const recorder = createEventRecorder(client, { component: 'kubelet', host: config.nodeName, pace: { perSecond, burst }, busy, clock, logger });
  tellStart(config.nodeName, host.cgroups.version, recorder);
  const [cgroups, certificates] = await Promise.all([
    createNodeCgroups(config, host, hostFacts, recorder, signal),
    createCertificates(config, host, signal),
    files.ensureDirectory(podsDirectory(config.roots), 0o750, signal),
    files.ensureDirectory(config.roots.podLogs, 0o755, signal),
  ]);
  const relists = createRelistMetrics(registry, clock);
  const cache = new RuntimeCache({ runtime, files, clock, relisted: relists.relisted });
  const allocations = await createAllocations(config, host, { budget: cgroups.budget, cache }, signal);
  const probeRegistry = new Registry();
  const podOf = (uid: string) => pods.engine.workers.standingOf(uid)?.pod;
  const base: NodeParts = {
    runtime,
    cache,
    stats: createStats(config, host, { cache, podCgroups: cgroups.names, podOf }),
    strain: createNodeStrain(),
    runtimeWatch: watchRuntime({ runtime: host.runtime, clock, listedAtMs: () => cache.listedAtMs }),
    hostFacts,
    cgroups,
    allocations,
    objects: createObjects({ client, clock, logger }),
    registry,
    imageMetrics: createImageMetrics(registry),
    podMetrics: createPodMetrics(registry, clock),
    probeCounts: createProbeMetrics(probeRegistry),
    probeRegistry,
    events: {
      emit: ({ uid, namespace, name }, { fieldPath, ...content }) =>
        recorder.emit({ kind: 'Pod', apiVersion: 'v1', namespace, name, uid, fieldPath }, content),
    },
    node: () => agent.node.get() ?? agent.expected.get(),
  };
  const pods = assemblePods(config, host, base);
  const images = createImageCleaner(config, host, { ...base, recorder, pullRecords: pods.engine.pullRecords });
  const server = serversOf(config, host, certificates.server.get(), { ...base, lastRelistAtMs: relists.lastAtMs }, pods);
  certificates.server.subscribe((tls) => server.useTls(tls));
  const port = await server.listen();
  const agent = createAgent(config, host, {
    client,
    runtimeWatch: base.runtimeWatch,
    budget: cgroups.budget,
    events: recorder,
    strain: base.strain,
    devices: () => allocations.port.resources(),
    port,
  });
  allocations.amountsChanged.subscribe(() => agent.refresh());
  base.strain.pressures.subscribe(() => agent.refresh());
  base.strain.isShuttingDown.subscribe(() => agent.refresh());
  const sources = createPodSources(config, host, { ...pods.engine, events: base.events, node: agent.node });
  return { ...base, recorder, pods, sources, images, server, port, agent, certificates, busy };
}

function serversOf(
  config: KubeletConfig,
  host: KubeletHost,
  tls: ServerTls,
  base: NodeParts & { readonly lastRelistAtMs: () => number | undefined },
  { engine, startups }: AssembledPods,
): KubeletServers {
  const { workers, status } = engine;
  return createServers(config, host, {
    ...base,
    tls,
    pods: () => workers.pods().map((pod) => ({ ...pod, status: status.get(pod.metadata.uid) ?? pod.status })),
    more: new Map([['/podstartups', () => startups.list()]]),
  });
}

function evictionOf(config: KubeletConfig, host: KubeletHost, parts: Parts, { removeDeadContainers }: Upkeep): EvictionManager {
  return createEviction(config, host, { ...parts, workers: parts.pods.engine.workers, removeDeadContainers });
}
