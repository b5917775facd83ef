import { Gauge, type Registry } from 'prom-client';
import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { PodCounts } from '../ports/pod-counts.ts';
import { histogram, podStartBuckets } from './families.ts';
import type { PodMetrics } from './pod-metrics.ts';
import { coveredMs, hasStarted, initSpans, isPromisedFast, type Span } from './start-time.ts';

interface Start {
  /** Monotonic. */
  readonly seenAtMs: number;
  readonly isPromisedFast: boolean;
  readonly pulls: Span[];
  hasWorker: boolean;
  isDone: boolean;
}

/** How long pods take to start, each counted once: as the kubelet sees it and, beyond that, as the API server tells it back. */
export function createPodStartMetrics(
  registry: Registry,
  clock: Clock,
): Pick<PodCounts, 'seen' | 'observed' | 'gone' | 'pulling'> & Pick<PodMetrics, 'observer'> {
  const metrics = families(registry);
  const starts = new Map<string, Start>();
  let hasNetworkPod = false;

  const tellStart = (pod: Pod, { pulls, isPromisedFast: isFast }: Start): void => {
    const tookMs = clock.now() - Date.parse(pod.metadata.creationTimestamp);
    const ownMs = Math.max(0, tookMs - coveredMs([...pulls, ...initSpans(pod)]));
    if (isFast) {
      metrics.total.observe(tookMs / 1000);
      metrics.own.observe(ownMs / 1000);
    }
    if (pod.spec?.hostNetwork === true || hasNetworkPod) return;
    hasNetworkPod = true;
    metrics.firstNetworkPod.set(ownMs / 1000);
  };

  return {
    seen(pod) {
      const { containers = [] } = pod.spec ?? {};
      metrics.containers.observe(containers.length);
      if (hasStarted(pod)) return; // it ran before this kubelet did
      const seenAtMs = clock.monotonic();
      starts.set(pod.metadata.uid, { seenAtMs, isPromisedFast: isPromisedFast(pod), pulls: [], hasWorker: false, isDone: false });
    },
    observed(pod) {
      const start = starts.get(pod.metadata.uid);
      if (start === undefined || !hasStarted(pod)) return;
      starts.delete(pod.metadata.uid);
      tellStart(pod, start);
    },
    gone: (podUid) => void starts.delete(podUid),
    pulling(podUid) {
      const fromMs = clock.now();
      return () => starts.get(podUid)?.pulls.push({ fromMs, toMs: clock.now() });
    },
    observer:
      ({ first, last }) =>
      ({ podUid, step, direction, state }) => {
        if (direction !== 'start' || (step !== first && step !== last)) return;
        const start = starts.get(podUid);
        if (start === undefined) return;
        const seconds = (clock.monotonic() - start.seenAtMs) / 1000;
        if (step === first && !start.hasWorker) {
          start.hasWorker = true;
          metrics.worker.observe(seconds);
        }
        if (step === last && state.kind === 'done' && !start.isDone) {
          start.isDone = true;
          metrics.running.observe(seconds);
        }
      },
  };
}

function families(registry: Registry) {
  const seconds = (name: string, help: string) => histogram(registry, name, help, [], podStartBuckets);
  return {
    worker: histogram(registry, 'kubelet_pod_worker_start_duration_seconds', 'Time from when the kubelet sees a pod until its worker starts'),
    running: seconds('kubelet_pod_start_duration_seconds', 'Time from when the kubelet sees a pod until it runs'),
    total: seconds('kubelet_pod_start_total_duration_seconds', 'Time from a pod’s creation until the API server tells that it runs'),
    own: seconds('kubelet_pod_start_sli_duration_seconds', 'The same without image pulls and init containers'),
    containers: histogram(registry, 'kubelet_containers_per_pod_count', 'Containers of a pod', [], [1, 2, 4, 8, 16]),
    firstNetworkPod: new Gauge({
      name: 'kubelet_first_network_pod_start_sli_duration_seconds',
      help: 'How long the first pod with a network of its own took, without image pulls and init containers',
      registers: [registry],
    }),
  };
}
