import { qosClass } from '#api/pod/qos.ts';
import type { Pod, PodStatus } from '#api/types/core-v1.ts';
import { isRunning } from '../runtime/pod-runtime-state.ts';
import { decideSandbox } from '../runtime/sandbox-decision.ts';
import { conditions } from './conditions.ts';
import { type ContainerStatusInput, containerStatuses, terminatedStatuses, timeOf } from './container-statuses.ts';
import { type Phase, phaseOf } from './phase.ts';

export interface PodStatusInput extends ContainerStatusInput {
  readonly hostIPs: readonly string[];
  readonly nowMs: number;
  /** The pod is stopped for good and nothing of it runs any more. */
  readonly ended: boolean;
  /** Why the node did not let it in, or put it out. */
  readonly refusal: { readonly reason: string; readonly message: string } | undefined;
}

export const deadlineMessage = 'Pod was active on the node longer than the specified deadline';

export interface ComputedStatus {
  readonly status: PodStatus;
  /** What the kubelet acts on. The end of a pod is told only when nothing of it runs any more. */
  readonly meant: Phase;
}

/** What the API server is told of a pod; pure. */
export function computePodStatus(input: PodStatusInput): ComputedStatus {
  const { pod, previous, observed, refusal } = input;
  const now = timeOf(input.nowMs);
  const startTime = previous?.startTime ?? now;
  const generation = pod.metadata.generation;
  const head = { ...(generation === undefined ? {} : { observedGeneration: generation }), qosClass: qosClass(pod), startTime };
  const neverRan = observed.containers.length === 0 && (previous?.containerStatuses ?? []).every(({ containerID }) => containerID === undefined);
  if (refusal !== undefined && neverRan) return { status: { ...head, phase: 'Failed', ...refusal }, meant: 'Failed' };
  const found = containerStatuses(input);
  const statuses = input.ended
    ? { init: trimmedInit(found.init), containers: terminatedStatuses(found.containers), ephemeral: terminatedStatuses(found.ephemeral) }
    : found;
  const phase = mergedPhase(input, phaseOf(pod, statuses, input.ended));
  const why = reasonOf(input, phase);
  const status: PodStatus = {
    ...head,
    phase: phase.told,
    ...why,
    conditions: conditions({
      pod,
      phase: phase.told,
      statuses,
      sandboxIsThere: !decideSandbox(pod, observed).create,
      previous: previous?.conditions ?? [],
      now,
    }),
    ...addresses(input),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.containers,
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: statuses.ephemeral }),
  };
  return { status, meant: phase.meant };
}

export function isTerminal(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Epoch at which the pod has been active for as long as it may; `undefined`: no limit, or not begun. */
export function deadlineOf(pod: Pod, startTime: string | undefined): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  return seconds === undefined || startTime === undefined ? undefined : Date.parse(startTime) + seconds * 1000;
}

interface MergedPhase {
  readonly meant: Phase;
  readonly told: Phase;
}

function mergedPhase(input: PodStatusInput, computed: Phase): MergedPhase {
  const { previous, observed, refusal } = input;
  const before = previous?.phase;
  if (isTerminal(before)) return { meant: before, told: before }; // a finished pod never comes back
  const meant = refusal !== undefined || isPastDeadline(input) ? 'Failed' : computed;
  const mayRun = observed.containers.some(isRunning);
  const told = isTerminal(meant) && mayRun ? (before === 'Running' ? 'Running' : 'Pending') : meant;
  return { meant, told };
}

function isPastDeadline({ pod, previous, nowMs, ended }: PodStatusInput): boolean {
  const deadline = deadlineOf(pod, previous?.startTime);
  return (
    deadline !== undefined && nowMs >= deadline && !(ended && previous?.reason !== 'DeadlineExceeded' && pod.metadata.deletionTimestamp !== undefined)
  );
}

function reasonOf(input: PodStatusInput, { meant, told }: MergedPhase): Pick<PodStatus, 'reason' | 'message'> {
  const { previous, refusal } = input;
  if (isTerminal(previous?.phase))
    return {
      ...(previous?.reason === undefined ? {} : { reason: previous.reason }),
      ...(previous?.message === undefined ? {} : { message: previous.message }),
    };
  if (meant !== told || meant !== 'Failed') return {};
  if (refusal !== undefined) return refusal;
  return isPastDeadline(input) ? { reason: 'DeadlineExceeded', message: deadlineMessage } : {};
}

/** Init containers after the last one that ran stay as they are: they never had a turn. */
function trimmedInit(statuses: ReturnType<typeof containerStatuses>['init']): typeof statuses {
  const lastRun = statuses.findLastIndex(({ containerID }) => containerID !== undefined);
  return [...terminatedStatuses(statuses.slice(0, lastRun + 1)), ...statuses.slice(lastRun + 1)];
}

/** Addresses stay after the pod has ended. */
function addresses({ pod, previous, observed, hostIPs }: PodStatusInput): Partial<PodStatus> {
  const [hostIP] = hostIPs;
  const host = hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) };
  const own = pod.spec?.hostNetwork === true ? hostIPs : (observed.sandboxes.find(({ ready }) => ready)?.ips ?? []);
  const kept = previous?.podIPs ?? [];
  const ips = own.length > 0 ? own.map((ip) => ({ ip })) : kept;
  const [first] = ips;
  return first === undefined ? host : { ...host, podIP: first.ip, podIPs: ips };
}
