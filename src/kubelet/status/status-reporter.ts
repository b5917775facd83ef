import type { Pod, PodStatus } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { PodRef } from '../pod-start/step.ts';
import type { EventsPort } from '../ports/events.ts';
import type { StatusPort } from '../ports/status.ts';
import type { StatusExtras } from '../ports/status-extras.ts';
import type { ProbeVerdicts } from '../runtime/pod-actions.ts';
import { refOf } from '../runtime/pod-ref.ts';
import { emptyState } from '../runtime/pod-runtime-state.ts';
import type { ReasonCache } from '../runtime/reason-cache.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import { computePodStatus, deadlineMessage, deadlineOf, isTerminal, type Refusal } from './compute-pod-status.ts';
import type { Phase } from './phase.ts';
import type { StartTroubles } from './start-troubles.ts';
import type { StatusManager } from './status-manager.ts';

/** What the pod's worker knows and the runtime does not. */
export interface PodStanding {
  readonly pod: Pod;
  readonly ended: boolean;
  readonly refusal: Refusal | undefined;
}

export interface ReportedStatus {
  /** What to act on. */
  readonly phase: Phase;
  /** Epoch at which the pod has been active for as long as it may. */
  readonly deadlineMs: number | undefined;
}

export interface StatusReporterDeps {
  readonly cache: RuntimeCache;
  readonly reasons: ReasonCache;
  readonly verdicts: ProbeVerdicts;
  readonly troubles: StartTroubles;
  readonly extras: StatusExtras | undefined;
  readonly manager: StatusManager;
  readonly events: EventsPort;
  readonly clock: Clock;
  readonly hostIPs: () => readonly string[];
  readonly runtimeName: string;
  /** `undefined`: the pod has no object in the API. */
  readonly standingOf: (podUid: string) => PodStanding | undefined;
}

/** Computes the status of a pod from all that is known, and hands it to the manager. */
export class StatusReporter implements StatusPort {
  readonly #deps: StatusReporterDeps;

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps;
  }

  changed(pod: PodRef, urgency: 'now' | 'soon'): void {
    this.report(pod.uid, urgency);
  }

  /** @returns `undefined` for a pod that has no object */
  report(podUid: string, urgency: 'now' | 'soon'): ReportedStatus | undefined {
    const { cache, reasons, verdicts, troubles, extras, manager, clock, hostIPs, runtimeName } = this.#deps;
    const standing = this.#deps.standingOf(podUid);
    if (standing === undefined) return undefined;
    const { pod, ended, refusal } = standing;
    const told = manager.get(podUid);
    const { status, meant } = computePodStatus({
      pod,
      previous: lastTold(pod.status, told),
      observed: cache.get(podUid) ?? emptyState(pod.metadata),
      verdicts,
      failureOf: (container) => reasons.get(podUid, container),
      holdOf: (container) => cache.holdOf(podUid, container),
      runtimeName,
      hostIPs: hostIPs(),
      nowMs: clock.now(),
      ended,
      refusal,
      trouble: troubles.get(podUid),
      resourcesOf: extras?.resourcesOf.bind(extras),
      conditionsOf: extras?.conditionsOf.bind(extras),
      podResourcesOf: extras?.podResourcesOf.bind(extras),
    });
    manager.set(pod, status, urgency);
    if (status.reason === 'DeadlineExceeded' && told?.reason !== 'DeadlineExceeded') {
      this.#deps.events.emit(refOf(pod), { type: 'Normal', reason: 'DeadlineExceeded', message: deadlineMessage });
    }
    return { phase: meant, deadlineMs: deadlineOf(pod, status.startTime) };
  }
}

/** Conditions of others are in the API's copy only; and when somebody there has ended the pod, it is over. */
function lastTold(inApi: PodStatus | undefined, told: PodStatus | undefined): PodStatus | undefined {
  if (told === undefined) return inApi;
  const conditions = [...(told.conditions ?? []), ...(inApi?.conditions ?? [])];
  if (!isTerminal(inApi?.phase) || isTerminal(told.phase)) return { ...told, conditions };
  return { ...told, phase: inApi.phase, reason: inApi.reason, message: inApi.message, conditions };
}
