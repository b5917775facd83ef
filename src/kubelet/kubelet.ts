import { Registry } from 'prom-client';
import { runtimeClass } from '#api/kinds/node/v1/runtime-class.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { waitFor } from '#base/watchable.ts';
import { createEventRecorder } from '#client/event-recorder.ts';
import { StartupRecorder } from '#startup/recorder.ts';
import type { AdmittingNode } from './admission/admission-input.ts';
import type { KubeletConfig, KubeletHost } from './kubelet-config.ts';
import { gatherFacts } from './node/gather-facts.ts';
import { createNodeAgent, defaultNodeTiming, type NodeAgent } from './node/node-agent.ts';
import { defaultThresholds, nothingReserved } from './node/node-resources.ts';
import { watchRuntime } from './node/runtime-state.ts';
import { createObjects } from './objects/objects.ts';
import { createTokens } from './objects/tokens.ts';
import { createPodEngine, type PodEngine } from './pod-engine.ts';
import { logObserver } from './pod-start/observers/log.ts';
import { metricsObserver } from './pod-start/observers/metrics.ts';
import { describeSteps } from './pod-start/observers/record.ts';
import { withCallTimes } from './pod-start/runtime-calls.ts';
import { takeDownOrphans } from './pod-workers/housekeeping.ts';
import { NodeRoom } from './pod-workers/node-room.ts';
import type { EventsPort } from './ports/events.ts';
import type { HostFacts } from './ports/host.ts';
import { createProbeManager } from './probes/probe-manager.ts';
import { containerResources } from './resources/container-resources.ts';
import { createPodCgroups, type PodCgroups } from './resources/pod-cgroups.ts';
import { collectGarbage } from './runtime/collect-garbage.ts';
import { parseResolvConf } from './runtime/dns-config.ts';
import { followRuntime } from './runtime/follow-runtime.ts';
import { rotateLogs } from './runtime/rotate-logs.ts';
import { RuntimeCache } from './runtime/runtime-cache.ts';
import { createKubeletServer } from './server/kubelet-server.ts';
import { createPodInformer, feedPods } from './sources/api-source.ts';
import { doChores } from './upkeep.ts';
import { createVolumeManager, type VolumeManager } from './volumes/volume-manager.ts';

/** How long the end of the kubelet waits for what it has begun. */
const cpuPeriodUs = 100_000;

/**
 * Looks after one node's pods until the signal is aborted; the pods then stay as they are.
 *
 * @throws {Unavailable} when the server's port is taken; {CgroupsMissing} and other errors of a host on which no pod could run
 */
export async function runKubelet(config: KubeletConfig, host: KubeletHost, signal: AbortSignal): Promise<void> {
  const parts = await assemble(config, host, signal);
  const { clock, logger } = host;
  const { runtimeWatch, cache, runtime, agent, recorder, server, port, engine } = parts;
  const tasks = new TaskGroup((what, error) => logger.error('a part of the kubelet broke', { what, error: messageOf(error) }));
  const informer = createPodInformer(host.client, config.nodeName, { clock, logger });
  try {
    tasks.run('runtime watch', (inner) => runtimeWatch.run(inner));
    tasks.run('runtime events', (inner) => followRuntime({ runtime, cache, clock, logger, settings: config.timings.follow }, inner));
    tasks.run('node', (inner) => agent.run(inner));
    tasks.run('events', (inner) => recorder.run(inner));
    tasks.run('pods', (inner) => informer.run(inner));
    await Promise.all([cache.synced(signal), informer.synced(signal), waitFor(agent.node, (node) => node !== undefined, signal)]);
    feedPods(informer, engine.workers);
    tasks.run('chores', (inner) => doChores(choresOf(config, host, parts), clock, logger, inner));
    host.onReady(port);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await server.close();
    await engine.close();
    await tasks.close();
    await parts.close();
  }
}

type Parts = Awaited<ReturnType<typeof assemble>>;

async function assemble(config: KubeletConfig, host: KubeletHost, signal: AbortSignal) {
  const { client, clock, logger, files } = host;
  const runtime = withCallTimes(host.runtime, clock);
  const hostFacts = await host.host.facts(signal);
  const podCgroups = createPodCgroups(host.cgroups, config.cgroupRoot, cgroupOptions(hostFacts, host));
  await Promise.all([
    files.ensureDirectory(`${config.roots.root}/pods`, 0o750, signal),
    files.ensureDirectory(config.roots.podLogs, 0o755, signal),
    podCgroups.prepareTree(signal),
  ]);
  const runtimeWatch = watchRuntime({ runtime: host.runtime, clock });
  const cache = new RuntimeCache({ runtime, files, clock });
  const recorder = createEventRecorder(client, { component: 'kubelet', host: config.nodeName, clock, logger });
  const events: EventsPort = {
    emit: ({ uid, namespace, name }, { type, reason, message, fieldPath }) =>
      recorder.emit({ kind: 'Pod', apiVersion: 'v1', namespace, name, uid, fieldPath }, { type, reason, message }),
  };
  const objects = createObjects({ client, clock, logger });
  const registry = new Registry();
  const { engine, volumes, startups, probes } = createPods(config, host, {
    runtime,
    hostFacts,
    podCgroups,
    runtimeWatch,
    cache,
    events,
    objects,
    registry,
    node: () => agent.node.get(),
  });
  const server = createKubeletServer({
    tls: config.tls,
    runtime: host.runtime,
    logFiles: host.logFiles,
    pods: () => engine.workers.pods().map((pod) => ({ ...pod, status: engine.status.get(pod.metadata.uid) ?? pod.status })),
    onPodsChanged: (listener) => cache.subscribe(listener),
    metrics: () => registry.metrics(),
    pages: new Map([['/podstartups', () => startups.list()]]),
    clock,
    logger,
  });
  const port = await server.listen({ host: config.nodeAddress, port: config.kubeletPort });
  const agent: NodeAgent = createNodeAgent({
    nodeName: config.nodeName,
    client,
    runtimeWatch,
    facts: gatherFacts({
      host: host.host,
      runtime: host.runtime,
      runtimeWatch,
      hostname: hostFacts.hostname,
      address: config.nodeAddress,
      kubeletPort: port,
      kubeletVersion: config.version,
      rootDirectory: config.roots.root,
      clock,
      logger,
    }),
    settings: { maxPods: config.maxPods, reserved: nothingReserved, thresholds: defaultThresholds, maxImages: 50 },
    events: recorder,
    labels: {},
    taints: config.taints,
    timing: { ...defaultNodeTiming, statusEveryMs: config.timings.nodeStatusMs, leaseEveryMs: config.timings.nodeLeaseMs },
    clock,
    logger,
    random: host.random,
  });
  const close = async () => {
    await probes.close();
    await startups.close();
    await volumes()?.[Symbol.asyncDispose]();
    await objects[Symbol.asyncDispose]();
  };
  return { runtime, runtimeWatch, cache, recorder, engine, server, port, agent, podCgroups, close };
}

interface PodParts {
  readonly runtime: KubeletHost['runtime'];
  readonly hostFacts: HostFacts;
  readonly podCgroups: PodCgroups;
  readonly runtimeWatch: ReturnType<typeof watchRuntime>;
  readonly cache: RuntimeCache;
  readonly events: EventsPort;
  readonly objects: ReturnType<typeof createObjects>;
  readonly registry: Registry;
  readonly node: () => AgentNode;
}

type AgentNode = ReturnType<NodeAgent['node']['get']>;

function createPods(config: KubeletConfig, host: KubeletHost, parts: PodParts) {
  const { client, clock, logger, random, files, mounter } = host;
  const { runtime, hostFacts, podCgroups, runtimeWatch, cache, events, objects, registry, node } = parts;
  const allocatable = () => node()?.status?.allocatable ?? {};
  const tokens = createTokens({ client, clock, logger, random });
  const version = config.version.replace(/^v(\d+\.\d+).*$/, '$1');
  const probes = createProbeManager({
    pods: cache,
    runtime: host.runtime,
    probers: host.probers,
    events,
    hostIp: config.nodeAddress,
    version,
    clock,
    logger,
  });
  const resolvConf = parseResolvConf(config.resolvConf);
  const resourceFacts = {
    ...cgroupOptions(hostFacts, host).pod,
    cgroupVersion: host.cgroups.version,
    memoryCapacityBytes: hostFacts.memoryBytes,
    hasSwapController: host.cgroups.hasSwapController,
    singleProcessOomKill: host.cgroups.version === 'v1',
  };
  let volumes: VolumeManager | undefined;
  let startups: StartupRecorder | undefined;
  const engine: PodEngine = createPodEngine({
    client,
    runtime,
    cache,
    network: runtimeWatch.network,
    files,
    objects,
    events,
    probes,
    clock,
    logger,
    random,
    http: host.httpGet,
    cgroups: {
      async ensure(pod, signal) {
        const path = await podCgroups.ensure(pod, signal);
        await podCgroups.updateQos(unfinished(engine), signal);
        return path;
      },
      find: (uid, signal) => podCgroups.find(uid, signal),
      remove: (uid, signal) => podCgroups.remove(uid, signal),
    },
    room: new NodeRoom({ node: () => admittingNode(config.nodeName, node()), refreshNode: async () => undefined, allowedSysctls: [] }),
    createVolumes: (wake) => {
      volumes = createVolumeManager({
        files,
        mounter,
        objects,
        tokens,
        clock,
        logger,
        random,
        allocatable,
        events,
        wake,
        roots: { root: config.roots.root, memory: config.memoryVolumes },
      });
      return volumes;
    },
    async runtimeHandlerOf(pod, signal) {
      const name = pod.spec?.runtimeClassName ?? '';
      return name === '' ? '' : (await client.get(runtimeClass, { name }, signal)).handler;
    },
    node: {
      clusterDomain: config.clusterDomain,
      hostIPs: () => [config.nodeAddress],
      allocatable,
      resourcesOf: (pod, container) => containerResources(pod, container, resourceFacts),
    },
    dns: () => ({ clusterDomain: config.clusterDomain, clusterDns: config.clusterDns, host: resolvConf }),
    roots: config.roots,
    runtimeName: 'containerd',
    settings: config.timings.engine,
    observers: (steps) => {
      startups = new StartupRecorder(
        { nodeName: config.nodeName, watchedPeriodMs: 100, idlePeriodMs: 1000, lastStep: steps.at(-1)?.name ?? '', keep: 500 },
        { describe: describeSteps(steps), clock, logger, ship: host.ship },
      );
      return { record: startups.record, metrics: metricsObserver(registry), log: logObserver(logger) };
    },
  });
  if (startups === undefined) throw new Error('the engine asks for its observers while it is made');
  return { engine, volumes: () => volumes, startups, probes };
}

function choresOf({ roots, timings }: KubeletConfig, { files, clock, logger }: KubeletHost, { engine, cache, runtime, podCgroups }: Parts) {
  const { workers } = engine;
  return [
    {
      name: 'orphans',
      everyMs: timings.housekeepingMs,
      run: (signal: AbortSignal) => takeDownOrphans({ workers, cache, files, roots, orphanCgroups: podCgroups.orphans }, signal),
    },
    {
      name: 'garbage',
      everyMs: timings.garbageMs,
      run: (signal: AbortSignal) => collectGarbage({ runtime, cache, files, logger, keepDead: 1 }, signal),
    },
    {
      name: 'logs',
      everyMs: timings.logRotationMs,
      run: (signal: AbortSignal) =>
        rotateLogs({ runtime, cache, files, clock, logger, maxBytes: timings.containerLogMaxBytes, maxFiles: timings.containerLogMaxFiles }, signal),
    },
  ];
}

function cgroupOptions({ cpus, memoryBytes }: HostFacts, { cgroups: { hugepageSizes }, logger }: KubeletHost) {
  return {
    pod: { cpuPeriodUs, enforceCpuLimits: true, podPidsLimit: -1, hugepageSizes },
    limits: { cpuMilli: cpus * 1000, memoryBytes, pids: -1, hugepageSizes },
    logger,
  };
}

function unfinished({ workers }: PodEngine): readonly Pod[] {
  return workers.pods().filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

function admittingNode(name: string, node: AgentNode): AdmittingNode | undefined {
  if (node === undefined) return undefined;
  const pressures = (node.status?.conditions ?? [])
    .filter(({ type, status }) => type.endsWith('Pressure') && status === 'True')
    .map(({ type }) => type);
  return {
    name,
    labels: node.metadata.labels ?? {},
    allocatable: node.status?.allocatable ?? {},
    taints: node.spec?.taints ?? [],
    pressures,
    hasSupplementalGroupsPolicy: node.status?.features?.supplementalGroupsPolicy === true,
    isShuttingDown: false,
  };
}
