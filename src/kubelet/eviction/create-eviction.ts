import { Counter, type Registry } from 'prom-client';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { histogram } from '../metrics/families.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import { putOut, untilLeft } from '../pod-workers/put-out.ts';
import type { EventsPort } from '../ports/events.ts';
import type { ImageCleanerPort } from '../ports/images.ts';
import type { StatsPort } from '../ports/stats.ts';
import { refOf } from '../runtime/pod-ref.ts';
import { EvictionManager } from './eviction-manager.ts';
import type { NodeStrain } from './node-strain.ts';
import { parseThresholds } from './thresholds.ts';

export interface EvictionParts {
  readonly workers: PodWorkers;
  readonly stats: StatsPort;
  readonly strain: NodeStrain;
  readonly recorder: Pick<EventRecorder, 'emit'>;
  readonly events: EventsPort;
  readonly images: ImageCleanerPort;
  readonly removeDeadContainers: (signal: AbortSignal) => Promise<void>;
  readonly registry: Registry;
}

/** Between two looks. Upstream's number. */
const everyMs = 10_000;
/** How long the next look waits for what an evicted pod holds. Upstream's number. */
const givesBackWithinMs = 30_000;

/** @throws {InvalidInput} when thresholds make no sense */
export function createEviction({ configuration, nodeName }: KubeletConfig, { clock, logger }: KubeletHost, parts: EvictionParts): EvictionManager {
  const { workers, stats, strain, recorder, events, images, removeDeadContainers, registry } = parts;
  const about = { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
  const evictions = new Counter({
    name: 'kubelet_evictions',
    help: 'Cumulative number of pod evictions by eviction signal',
    labelNames: ['eviction_signal'] as const,
    registers: [registry],
  });
  const age = histogram(registry, 'kubelet_eviction_stats_age_seconds', 'How old the figures were by which a pod was evicted', ['eviction_signal']);
  const tell = { workers, events, clock };
  return new EvictionManager({
    settings: {
      thresholds: parseThresholds(configuration),
      transitionMs: configuration.evictionPressureTransitionPeriod,
      maxPodGraceSeconds: configuration.evictionMaxPodGracePeriod,
      limitsLocalStorage: configuration.localStorageCapacityIsolation,
      everyMs: Math.min(everyMs, configuration.syncFrequency),
    },
    pressures: strain.pressures,
    stats,
    pods: () => workers.pods().filter(({ metadata: { uid } }) => workers.remainsOf(uid) === 'running'),
    putOut: (pod, refusal, graceSeconds, signal) => putOut(pod, refusal, graceSeconds, tell, signal),
    untilStopped: ({ metadata: { uid } }, signal) => untilLeft(uid, 'stopped', givesBackWithinMs, tell, signal),
    removeDeadContainers,
    removeUnusedImages: (signal) => images.deleteUnused(signal),
    tellNode: (reason, message) => recorder.emit(about, { type: 'Warning', reason, message }),
    tellPod: (pod, { message, annotations }) => events.emit(refOf(pod), { type: 'Warning', reason: 'Evicted', message, annotations }),
    count: (signal, atMs = clock.now()) => {
      evictions.inc({ eviction_signal: signal });
      age.observe({ eviction_signal: signal }, (clock.now() - atMs) / 1000);
    },
    clock,
    logger,
  });
}
