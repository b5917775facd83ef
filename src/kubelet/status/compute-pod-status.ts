import { qosClass } from '#api/pod/qos.ts';
import type { Pod, PodStatus } from '#api/types/core-v1.ts';
import type { StatusExtras } from '../ports/status-extras.ts';
import { isStatic } from '../resources/critical.ts';
import { isRunning, type PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { isRestartingAll, mayRestartAll, triggerOfRestartAll } from '../runtime/restart-rules.ts';
import { decideSandbox } from '../runtime/sandbox-decision.ts';
import { conditions } from './conditions.ts';
import { type ContainerStatusInput, containerStatuses, terminatedStatuses, timeOf } from './container-statuses.ts';
import { type ContainerStatuses, type Phase, phaseOf } from './phase.ts';
import type { StartTrouble } from './start-troubles.ts';

export interface PodStatusInput extends ContainerStatusInput {
  readonly hostIPs: readonly string[];
  readonly nowMs: number;
  /** The pod is stopped for good and nothing of it runs any more. */
  readonly ended: boolean;
  /** Why the node did not let it in, or put it out. */
  readonly refusal: Refusal | undefined;
  /** What keeps the start of the pod, as far as it is known. */
  readonly trouble?: StartTrouble | undefined;
  readonly conditionsOf?: StatusExtras['conditionsOf'] | undefined;
  readonly podResourcesOf?: StatusExtras['podResourcesOf'] | undefined;
}

/** Why the node did not let a pod in, or put it out again. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
  /** Absent: it was never in. */
  readonly putOut?: PutOut | undefined;
}

export interface PutOut {
  /** Through no fault of its own: told by the condition DisruptionTarget, which controllers count separately. */
  readonly isDisruption: boolean;
  /** What the condition says, where it is not what the status says. */
  readonly disruption?: string;
  /** A pod whose programs all end well meanwhile has succeeded. */
  readonly keepsSuccess: boolean;
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
  if (refusal !== undefined && refusal.putOut === undefined && neverRan)
    return { status: { ...head, phase: 'Failed', reason: refusal.reason, message: refusal.message }, meant: 'Failed' };
  const found = containerStatuses(input);
  const statuses = input.ended ? endedStatuses(pod, found) : found;
  // The end of a static pod is the end of this run of it: its phase says how that went.
  const computed = phaseOf(pod, statuses, input.ended && !isStatic(pod));
  const phase = mergedPhase(input, isTerminal(computed) && !input.ended && isRestarting(input, statuses) ? 'Running' : computed);
  const why = reasonOf(input, phase);
  const status: PodStatus = {
    ...head,
    phase: phase.told,
    ...why,
    conditions: conditions({
      pod,
      phase: phase.told,
      statuses,
      disruption: refusal?.putOut?.isDisruption === true && isTerminal(phase.told) ? (refusal.putOut.disruption ?? refusal.message) : undefined,
      withoutSandbox: decideSandbox(pod, observed).create ? (input.trouble ?? noSandbox(observed)) : undefined,
      restartsAll: mayRestartAll(pod) ? triggerOfRestartAll(pod, observed) !== undefined : undefined,
      extra: input.conditionsOf?.(pod) ?? [],
      previous: previous?.conditions ?? [],
      now,
    }),
    ...addresses(input),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.containers,
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: statuses.ephemeral }),
    ...input.podResourcesOf?.(pod, previous),
  };
  return { status, meant: phase.meant };
}

function isRestarting({ pod, observed }: PodStatusInput, { init, containers }: ContainerStatuses): boolean {
  const told = [...init, ...containers];
  return isRestartingAll(pod, observed, (name) => {
    const status = told.find((one) => one.name === name);
    return status?.state?.terminated !== undefined || status?.lastState?.terminated !== undefined;
  });
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
  const isPutOut = refusal !== undefined && !(refusal.putOut?.keepsSuccess === true && computed === 'Succeeded');
  const meant = isPutOut || isPastDeadline(input) ? 'Failed' : computed;
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
  if (meant !== told || !isTerminal(meant)) return {};
  if (refusal !== undefined) return { reason: refusal.reason, message: refusal.message };
  return meant === 'Failed' && isPastDeadline(input) ? { reason: 'DeadlineExceeded', message: deadlineMessage } : {};
}

/** What never had a turn stays as it is: init containers after the last one that ran, and app containers that nobody came to. */
function endedStatuses(pod: Pod, found: ReturnType<typeof containerStatuses>): typeof found {
  const lastRun = found.init.findLastIndex(({ containerID }) => containerID !== undefined);
  return {
    init: [...terminatedStatuses(found.init.slice(0, lastRun + 1)), ...found.init.slice(lastRun + 1)],
    containers: wasInitialised(pod, found) ? terminatedStatuses(found.containers) : found.containers,
    ephemeral: terminatedStatuses(found.ephemeral),
  };
}

function wasInitialised(pod: Pod, { init, containers }: ReturnType<typeof containerStatuses>): boolean {
  if ((pod.spec?.initContainers ?? []).length === 0) return true;
  if (containers.some(({ state, lastState }) => lastState?.terminated !== undefined || state?.waiting === undefined)) return true;
  const last = init.at(-1);
  return last?.started === true || last?.state?.terminated?.exitCode === 0;
}

function noSandbox(observed: PodRuntimeState): StartTrouble {
  if (observed.sandboxes.length === 0) return { reason: 'NoSandbox', message: 'the sandbox of the pod is not made yet' };
  return { reason: 'SandboxNotReady', message: 'the sandbox of the pod runs no more and is made anew' };
}

/** Addresses stay after the pod has ended. Of each family one is told, that of the node's first address before the other. */
function addresses({ pod, previous, observed, hostIPs }: PodStatusInput): Partial<PodStatus> {
  const [hostIP] = hostIPs;
  const host = hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) };
  const told = (previous?.podIPs ?? []).map(({ ip }) => ip);
  const onHost = pod.spec?.hostNetwork === true;
  const own = onHost ? [...told, ...hostIPs] : (observed.sandboxes.find(({ ready }) => ready)?.ips ?? []);
  const isSix = (ip: string): boolean => ip.includes(':');
  const firstFamily = isSix((onHost ? own[0] : hostIP) ?? '');
  const ofFamilies = [own.find((ip) => isSix(ip) === firstFamily), own.find((ip) => isSix(ip) !== firstFamily)].filter((ip) => ip !== undefined);
  const ips = ofFamilies.length > 0 ? ofFamilies : told;
  const [first] = ips;
  return first === undefined ? host : { ...host, podIP: first, podIPs: ips.map((ip) => ({ ip })) };
}
