import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import type { TransitionListener } from '#startup/transition.ts';
import type { PodCounts } from '../ports/pod-counts.ts';
import type { ContainerKind } from '../ports/pod-runtime.ts';
import { counter, histogram } from './families.ts';
import { createPodStartMetrics } from './pod-start-metrics.ts';

export interface PodMetrics extends PodCounts {
  /** Reads the steps of starts. */
  readonly observer: (steps: { readonly first: string; readonly last: string }) => TransitionListener;
}

/** What is counted and timed about pods, under upstream's names. */
export function createPodMetrics(registry: Registry, clock: Clock): PodMetrics {
  const starts = createPodStartMetrics(registry, clock);
  const worked = histogram(registry, 'kubelet_pod_worker_duration_seconds', 'Duration of one turn of a pod worker', ['operation_type']);
  const told = histogram(
    registry,
    'kubelet_pod_status_sync_duration_seconds',
    'Time from a change of a pod’s status until the API server has it',
    [],
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  );
  const orphans = counter(registry, 'kubelet_orphaned_runtime_pods_total', 'Pods that were found in the runtime and that nobody knew');
  const restarted = counter(registry, 'kubelet_restarted_pods_total', 'Pods that came back under their old uid after their end', ['static']);
  const preempted = counter(registry, 'kubelet_preemptions', 'Pods that had to go for critical ones', ['preemption_signal']);
  const rejected = counter(registry, 'kubelet_admission_rejections_total', 'Pods that were not let in', ['reason']);
  return {
    ...starts,
    ...containerCounts(registry),
    worked: (operation_type, tookMs) => worked.observe({ operation_type }, tookMs / 1000),
    statusTold: (tookMs) => told.observe(tookMs / 1000),
    preempted: (preemption_signal) => preempted.inc({ preemption_signal }),
    orphaned: () => orphans.inc(),
    restarted: (isStatic) => restarted.inc({ static: isStatic ? 'true' : '' }),
    observer(steps) {
      const ofStarts = starts.observer(steps);
      return (transition) => {
        const { step, direction, state } = transition;
        if (step === steps.first && direction === 'start' && state.kind === 'rejected') rejected.inc({ reason: state.word ?? state.reason });
        ofStarts(transition);
      };
    },
  };
}

function containerCounts(registry: Registry): Pick<PodCounts, 'containerStarts' | 'containerBlocked' | 'imageVolume' | 'hookFellBack' | 'sleepCut'> {
  const types = ['container_type'] as const;
  const started = counter(registry, 'kubelet_started_containers_total', 'Containers that were to start', types);
  const blocked = counter(registry, 'kubelet_started_containers_errors_total', 'Containers that could not start', [...types, 'code']);
  const fallbacks = counter(registry, 'kubelet_lifecycle_handler_http_fallbacks_total', 'HTTPS hooks that were asked again over HTTP');
  const imageVolumes = {
    requested: counter(registry, 'kubelet_image_volume_requested_total', 'Volumes that are images and that were asked for'),
    mounted: counter(registry, 'kubelet_image_volume_mounted_succeed_total', 'Volumes that are images and that were there'),
    failed: counter(registry, 'kubelet_image_volume_mounted_errors_total', 'Volumes that are images and that could not be had'),
  };
  const cut = counter(registry, 'kubelet_sleep_action_terminated_early_total', 'Sleeps of hooks that were cut short');
  return {
    containerStarts: (kind) => started.inc({ container_type: containerType[kind] }),
    containerBlocked: (kind, code) => blocked.inc({ container_type: containerType[kind], code }),
    imageVolume: (state) => imageVolumes[state].inc(),
    hookFellBack: () => fallbacks.inc(),
    sleepCut: () => cut.inc(),
  };
}

export const containerType: Readonly<Record<ContainerKind, string>> = {
  container: 'container',
  init: 'init_container',
  ephemeral: 'ephemeral_container',
};
