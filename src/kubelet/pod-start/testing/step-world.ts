import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { podDirectory } from '../../paths.ts';
import type { NetworkState } from '../../ports/node-facts.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import { computeActions } from '../../runtime/compute-actions.ts';
import { noImageMetrics } from '../../runtime/images/image-metrics.ts';
import { ImagePuller } from '../../runtime/images/image-puller.ts';
import { defaultImagePullerSettings } from '../../runtime/images/puller-settings.ts';
import type { PodActions } from '../../runtime/pod-actions.ts';
import { refOf } from '../../runtime/pod-ref.ts';
import { PodRuntime } from '../../runtime/pod-runtime.ts';
import { emptyState, type PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import { ReasonCache } from '../../runtime/reason-cache.ts';
import { RuntimeCache } from '../../runtime/runtime-cache.ts';
import { MemoryRuntime } from '../../runtime/testing/memory-runtime.ts';
import { aNodeConfig } from '../../runtime/testing/node-config.ts';
import type { PodRef } from '../step.ts';

const roots = { root: '/kubelet', podLogs: '/pod-logs' };
const backoff = { baseMs: 10_000, maxMs: 300_000, forgetAfterMs: 600_000 };
const noObjects: ObjectsPort = { configMap: async () => undefined, secret: async () => undefined, watch: () => () => undefined };

/** A container runtime in memory behind the kubelet's own deeds, for tests of single steps. */
export class StepWorld {
  readonly signal = new AbortController().signal;
  readonly clock = new FakeClock();
  readonly memory: MemoryRuntime;
  readonly files = createMemoryFiles(new MemoryTree());
  readonly cache: RuntimeCache;
  readonly network = new Cell<NetworkState>({ ready: true, detail: '' });
  readonly events: string[] = [];
  readonly images: ImagePuller;
  readonly runtime: PodRuntime;
  readonly pod: Pod;
  readonly ref: PodRef;

  /** @param memory of another world: what a kubelet finds that has forgotten everything */
  constructor(pod: Pod = aPod(), memory?: MemoryRuntime) {
    this.memory = memory ?? new MemoryRuntime(this.clock);
    this.cache = new RuntimeCache({ runtime: this.memory, files: this.files, clock: this.clock });
    this.pod = pod;
    this.ref = refOf(pod);
    const events = {
      emit: (_pod: PodRef, { reason, message }: { readonly reason: string; readonly message: string }) =>
        void this.events.push(`${reason} ${message}`),
    };
    const { memory: runtime, files, clock, cache } = this;
    this.images = new ImagePuller({
      runtime,
      objects: noObjects,
      events,
      files,
      clock,
      roots,
      logger: silentLogger,
      metrics: noImageMetrics,
      nodeCredentials: async () => [],
      runtimeHandlerOf: async () => '',
      wake: { signal: () => undefined },
      settings: defaultImagePullerSettings,
    });
    this.runtime = new PodRuntime({
      runtime,
      cache,
      files,
      clock,
      events,
      roots,
      objects: noObjects,
      network: this.network,
      images: this.images,
      reasons: new ReasonCache(),
      volumes: { prepareSubPath: async ({ relative }) => `/sub/${relative}` },
      http: { get: async () => 200 },
      settings: { crashBackoff: backoff, retryMs: 10_000 },
      randomName: () => '00000000',
      logger: silentLogger,
      dns: async () => ({
        clusterDomain: 'cluster.local',
        clusterDns: ['10.96.0.10'],
        expectsClusterDns: true,
        host: { servers: [], searches: [], options: [] },
      }),
      runtimeHandlerOf: async () => '',
      node: aNodeConfig(),
    });
  }

  get observed(): PodRuntimeState {
    return this.cache.get(this.ref.uid) ?? emptyState(this.ref);
  }

  get actions(): PodActions {
    return computeActions(this.pod, this.observed, () => undefined);
  }

  /** Makes the pod's folder and sandbox. @returns the sandbox's id */
  async sandbox(): Promise<string> {
    await this.files.ensureDirectory(podDirectory(roots, this.ref.uid), 0o750, this.signal);
    const made = await this.runtime.createSandbox(this.pod, 0, '/pods/u', this.signal);
    if (made.kind !== 'ready') throw new Error('a fresh runtime reserves no names');
    return made.sandboxId;
  }
}
