import { setImmediate as nextTurn } from 'node:timers/promises';
import { aNode, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { watchedMemoryFiles } from '#os/memory/folder-watch.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { createMemoryMounter } from '#os/memory/mounter.ts';
import type { Transition } from '#startup/transition.ts';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { createObjects } from '../objects/objects.ts';
import { createPodEngine, defaultEngineSettings, type EngineSettings, type PodEngine } from '../pod-engine.ts';
import { takeDownOrphans } from '../pod-workers/housekeeping.ts';
import type { PodEvent } from '../ports/events.ts';
import type { NetworkState } from '../ports/node-facts.ts';
import type { NodeRoomPort } from '../ports/node-room.ts';
import type { ProbeKind, ProbeResult, ProbesPort } from '../ports/probes.ts';
import { podCgroupsPort } from '../resources/node-cgroups.ts';
import { createPodCgroups } from '../resources/pod-cgroups.ts';
import { somePodCgroupsOptions } from '../resources/testing/cgroup-options.ts';
import { defaultFollowSettings, followRuntime } from '../runtime/follow-runtime.ts';
import { RuntimeCache } from '../runtime/runtime-cache.ts';
import { MemoryRuntime } from '../runtime/testing/memory-runtime.ts';
import { aNodeConfig } from '../runtime/testing/node-config.ts';
import { createPodInformer } from '../sources/api-source.ts';
import { createPodSources, type PodSources } from '../sources/pod-sources.ts';
import { createVolumeManager } from '../volumes/volume-manager.ts';

const roots = { root: '/kubelet', podLogs: '/pod-logs' };
const cgroupRoot = '/pods';
const manifestFolder = '/manifests';

/** A node in memory with the real start of pods on it: only runtime, kernel, disk, clock and API server are pretended. */
export class MemoryNode {
  readonly clock = new FakeClock();
  readonly api = new MemoryApi();
  readonly runtime: MemoryRuntime;
  readonly tree = new MemoryTree();
  readonly #watched = watchedMemoryFiles(this.tree, createMemoryFiles(this.tree));
  readonly files = this.#watched.files;
  readonly folderWatch = this.#watched.folderWatch;
  readonly mounter = createMemoryMounter(this.tree);
  readonly hostCgroups = new MemoryCgroups();
  readonly runtimeReady = new Cell(true);
  readonly network = new Cell<NetworkState>({ ready: true, detail: '' });
  /** As the API server has it. */
  readonly node = new Cell<Node | undefined>(aNode({ metadata: { name: 'node-1', uid: 'uid-of-node-1' } }));
  readonly manifests = { get: async () => ({ status: 404, body: '' }) };
  readonly events: string[] = [];
  readonly transitions: Transition[] = [];
  readonly http: string[] = [];
  readonly probes = new MemoryProbes();
  refuse: { readonly reason: string; readonly message: string } | undefined;
  #kubelet:
    | {
        readonly engine: PodEngine;
        readonly abort: AbortController;
        readonly ended: Promise<unknown>;
        readonly sources: PodSources;
        housekeep(): Promise<void>;
      }
    | undefined;

  constructor(options: { readonly exitLagMs?: number } = {}) {
    this.runtime = new MemoryRuntime(this.clock, { exitLagMs: options.exitLagMs ?? 0 });
  }

  get engine(): PodEngine {
    if (this.#kubelet === undefined) throw new Error('the kubelet is not running');
    return this.#kubelet.engine;
  }

  /** Starts a kubelet process, as it were: nothing is remembered from one before it. */
  async start(settings: Partial<EngineSettings> = {}): Promise<void> {
    const { clock, runtime, files, mounter, api } = this;
    const client = createClient(api);
    const abort = new AbortController();
    const cache = new RuntimeCache({ runtime, files, clock });
    const objects = createObjects({ client, clock, logger: silentLogger });
    const random = () => 0;
    const cgroups = createPodCgroups(this.hostCgroups, somePodCgroupsOptions(cgroupRoot));
    const allocatable = () => ({ cpu: '4', memory: '8Gi', pods: '110' });
    const events = { emit: (_pod: unknown, event: PodEvent) => void this.events.push(`${event.type} ${event.reason} ${event.message}`) };
    const engine = createPodEngine({
      client,
      runtime,
      cache,
      network: this.network,
      runtimeReady: this.runtimeReady,
      files,
      objects,
      cgroups: podCgroupsPort(cgroups, { apply: async () => undefined }, () => []),
      clock,
      random,
      roots,
      events,
      probes: this.probes,
      room: this.#room(),
      http: { get: async ({ host, port, path }) => this.http.push(`${host}:${port}${path}`) },
      createVolumes: (wake) =>
        createVolumeManager({
          files,
          mounter,
          objects,
          clock,
          random,
          allocatable,
          wake,
          tokens: { token: async () => ({ token: 'token', refreshAtMs: clock.now() + 3_600_000 }), forget: () => undefined },
          roots: { root: roots.root, memory: '/memory' },
          logger: silentLogger,
          events: { emit: () => undefined },
        }),
      runtimeHandlerOf: async () => '',
      node: aNodeConfig({ allocatable }),
      dns: async () => ({
        clusterDomain: 'cluster.local',
        clusterDns: ['10.96.0.10'],
        expectsClusterDns: true,
        host: { servers: ['1.1.1.1'], searches: [], options: [] },
      }),
      runtimeName: 'containerd',
      logger: silentLogger,
      settings: { ...defaultEngineSettings, ...settings },
      observers: () => ({ test: (transition) => this.transitions.push(transition) }),
    });
    const informer = createPodInformer(client, 'node-1', { clock, logger: silentLogger });
    const { signal } = abort;
    const following = followRuntime({ runtime, cache, clock, logger: silentLogger, settings: defaultFollowSettings }, signal);
    const watching = informer.run(signal);
    await Promise.all([cache.synced(signal), informer.synced(signal)]);
    const host = { client, clock, logger: silentLogger, files, folderWatch: this.folderWatch, manifests: this.manifests };
    const configuration = parseKubeletConfiguration({ staticPodPath: manifestFolder }, 'the test');
    const sources = createPodSources({ nodeName: 'node-1', configuration }, host, { ...engine, events, node: this.node });
    sources.followManifests();
    sources.followApi(informer);
    if (!sources.ready.get()) await waitFor(sources.ready, (ready) => ready, signal);
    const housekeep = () =>
      takeDownOrphans({ workers: engine.workers, cache, files, roots, orphanCgroups: (known, inner) => cgroups.orphans(known, inner) }, signal);
    this.#kubelet = { engine, abort, ended: Promise.all([following, watching]), sources, housekeep };
  }

  /** The kubelet process ends; everything else stays. */
  async stop(): Promise<void> {
    const kubelet = this.#kubelet;
    this.#kubelet = undefined;
    kubelet?.abort.abort();
    await Promise.all([kubelet?.sources.close(), kubelet?.engine.close(), this.settle()]);
    await kubelet?.ended;
  }

  async housekeep(): Promise<void> {
    await this.#kubelet?.housekeep();
    await this.settle();
  }

  create(overrides: DeepPartial<Pod> = {}): Pod {
    const pod = aPod({
      ...overrides,
      metadata: { uid: 'uid-of-web', generation: 1, ...overrides.metadata },
      spec: { nodeName: 'node-1', ...overrides.spec },
    });
    this.api.put('pods', pod);
    return pod;
  }

  /** The pod's object as the API server has it. */
  pod(name = 'web'): Pod | undefined {
    return this.api.objects<Pod>('pods').find(({ metadata }) => metadata.name === name);
  }

  delete(name = 'web', graceSeconds = 30): void {
    const pod = this.pod(name);
    if (pod === undefined) return;
    const deletionTimestamp = new Date(this.clock.now()).toISOString();
    this.api.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } });
  }

  get patches(): number {
    return this.api.requests.filter((request) => request.startsWith('PATCH')).length;
  }

  /** Lets everything go on that can go on without time passing. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  }

  async advance(ms: number): Promise<void> {
    const stepMs = Math.max(1, ms / 20);
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    }
    await this.settle();
  }

  #room(): NodeRoomPort {
    const held = new Set<string>();
    return {
      admit: async (pod, observed) => {
        const alreadyRuns = observed.sandboxes.length + observed.containers.length > 0;
        if (this.refuse !== undefined && !alreadyRuns && !held.has(pod.metadata.uid)) return { admitted: false, ...this.refuse };
        held.add(pod.metadata.uid);
        return { admitted: true, pod };
      },
      holds: (uid) => held.has(uid),
      release: (uid) => void held.delete(uid),
    };
  }
}

/** Probes whose verdicts the test decides. */
export class MemoryProbes implements ProbesPort {
  readonly #verdicts = new Map<string, ProbeResult>();
  readonly #listeners = new Set<(podUid: string, containerId: string, kind: ProbeKind) => void>();

  set(podUid: string, containerId: string, kind: ProbeKind, verdict: ProbeResult): void {
    this.#verdicts.set(`${containerId}/${kind}`, verdict);
    for (const listener of this.#listeners) listener(podUid, containerId, kind);
  }

  ensure(): void {}
  stopRestarting(): void {}
  remove(): void {}

  result(containerId: string, kind: ProbeKind): ProbeResult | undefined {
    return this.#verdicts.get(`${containerId}/${kind}`);
  }

  subscribe(listener: (podUid: string, containerId: string, kind: ProbeKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
