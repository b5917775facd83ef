import type { Registry } from 'prom-client';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { NodeStrain } from '../eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import { putOut, untilLeft } from '../pod-workers/put-out.ts';
import type { EventsPort } from '../ports/events.ts';
import { shutdownPeriods } from './periods.ts';
import { ShutdownManager } from './shutdown-manager.ts';
import { createShutdownTimes } from './shutdown-times.ts';

export interface ShutdownParts {
  readonly workers: PodWorkers;
  readonly strain: NodeStrain;
  readonly recorder: Pick<EventRecorder, 'emit'>;
  readonly events: EventsPort;
  readonly registry: Registry;
}

/** @returns undefined when pods are not to be ended by a shutdown of the host. @throws {InvalidInput} when the periods make no sense */
export function createShutdown(
  { configuration, nodeName, roots }: KubeletConfig,
  { clock, logger, files, logind }: KubeletHost,
  { workers, strain, recorder, events, registry }: ShutdownParts,
): ShutdownManager | undefined {
  const periods = shutdownPeriods(configuration);
  if (periods.length === 0) return undefined;
  const about = { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
  const tell = { workers, events, clock };
  const untilTheEnd = new AbortController().signal; // the deadlines of `putOut` end these waits: a pod that was told to stop stops
  return new ShutdownManager({
    periods,
    logind,
    pods: () => workers.pods().filter(({ metadata: { uid } }) => workers.remainsOf(uid) === 'running'),
    putOut: (pod, refusal, graceSeconds) => putOut(pod, refusal, graceSeconds, tell, untilTheEnd),
    untilStopped: ({ metadata: { uid } }, withinMs) => untilLeft(uid, 'stopped', withinMs, tell, untilTheEnd),
    isShuttingDown: strain.isShuttingDown,
    tellNode: (message) => recorder.emit(about, { type: 'Normal', reason: 'Shutdown', message }),
    times: createShutdownTimes({ path: `${roots.root}/graceful_node_shutdown_state`, files, registry, clock, logger }),
    files,
    clock,
    logger,
  });
}
