import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, ContainerState, ContainerStateTerminated, ContainerStatus, Pod, PodStatus, VolumeMountStatus } from '#api/types/core-v1.ts';
import type { StatusExtras } from '../ports/status-extras.ts';
import type { ProbeVerdicts } from '../runtime/pod-actions.ts';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import type { StartFailure } from '../runtime/reason-cache.ts';
import { shouldRestart } from '../runtime/restart-rules.ts';
import type { Hold } from '../runtime/runtime-cache.ts';
import type { ContainerStatuses } from './phase.ts';

export interface ContainerStatusInput {
  readonly pod: Pod;
  readonly previous: PodStatus | undefined;
  readonly observed: PodRuntimeState;
  readonly verdicts: ProbeVerdicts;
  readonly failureOf: (container: string) => StartFailure | undefined;
  /** What the kubelet does to a container just now that nobody is to see. */
  readonly holdOf?: ((container: string) => Hold | undefined) | undefined;
  /** Scheme of container ids: `containerd`. */
  readonly runtimeName: string;
  /** What a container was given of the node, if anybody keeps account of that. */
  readonly resourcesOf?: StatusExtras['resourcesOf'] | undefined;
}

const lostWhenDeleted = 'The container could not be located when the pod was deleted.  The container used to be Running';
const lostReason = 'ContainerStatusUnknown';
const lostAtEnd = 'The container could not be located when the pod was terminated';
const killedExitCode = 137;
/** Last words of all containers of a pod together. */
const maxPodMessageBytes = 12_288;

/** Sorted by name, those of init containers in the order of the spec. */
export function containerStatuses(input: ContainerStatusInput): ContainerStatuses & { readonly ephemeral: readonly ContainerStatus[] } {
  const { spec } = input.pod;
  const { previous } = input;
  const waitingFor = (spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const of = (list: readonly Container[] | undefined, old: readonly ContainerStatus[] | undefined, isInit: boolean) =>
    (list ?? []).map((container) =>
      statusOf(
        input,
        container,
        old?.find(({ name }) => name === container.name),
        isInit,
        waitingFor,
      ),
    );
  const byName = (a: ContainerStatus, b: ContainerStatus) => (a.name < b.name ? -1 : 1);
  return {
    init: of(spec?.initContainers, previous?.initContainerStatuses, true),
    containers: of(spec?.containers, previous?.containerStatuses, false).sort(byName),
    ephemeral: of(spec?.ephemeralContainers, previous?.ephemeralContainerStatuses, false).sort(byName),
  };
}

/** At the end of a pod nothing runs: what the runtime no longer shows has ended too. */
export function terminatedStatuses(statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  return statuses.map((status) => {
    if (status.state?.terminated !== undefined) return status;
    const terminated = status.lastState?.terminated;
    const state = { terminated: status.containerID === undefined ? lost(lostAtEnd) : (terminated ?? lost(lostAtEnd)) };
    return { ...status, ready: false, started: false, state };
  });
}

function statusOf(
  input: ContainerStatusInput,
  container: Container,
  old: ContainerStatus | undefined,
  isInit: boolean,
  waitingFor: string,
): ContainerStatus {
  const [newest, before] = input.observed.containers.filter(({ name }) => name === container.name);
  const hold = input.holdOf?.(container.name);
  if (hold === 'starting') return old ?? withoutRecord(input.pod, container, old, waitingFor);
  // Between its end and its next start it has not ended: the pod goes on.
  if (hold === 'replacing' && old?.state?.running !== undefined && newest?.phase !== 'running') return { ...old, ready: false };
  if (newest === undefined) return withFailure(input, container, undefined, isInit, withoutRecord(input.pod, container, old, waitingFor));
  const { runtimeName } = input;
  const budget = messageBytesOf(input.pod);
  const state = stateOf(newest, runtimeName, budget, old);
  const lastState = before === undefined ? endBefore(newest, old, runtimeName) : stateOf(before, runtimeName, budget, undefined).terminated;
  const isLost = newest.phase === 'unknown' && state.terminated !== undefined; // nobody counts it but us
  const isStarted = state.running !== undefined && (container.startupProbe === undefined || input.verdicts(newest.id, 'startup') === 'success');
  const status: ContainerStatus = {
    name: container.name,
    state,
    lastState: lastState === undefined ? {} : { terminated: lastState },
    ready: isReady(input, container, newest, isStarted, isInit),
    restartCount: isLost ? (old?.restartCount ?? 0) + (old?.state?.running === undefined ? 0 : 1) : newest.restartCount,
    image: newest.image === '' ? (container.image ?? '') : newest.image,
    imageID: newest.imageId,
    containerID: `${runtimeName}://${newest.id}`,
    started: isStarted,
    ...mountsOf(container, newest),
    ...(newest.user === undefined ? {} : { user: { linux: newest.user } }),
    ...input.resourcesOf?.(input.pod, container, newest),
  };
  return withFailure(input, container, newest, isInit, status);
}

/** The record of the run before is gone, but it was told of. */
function endBefore(newest: ContainerRecord, old: ContainerStatus | undefined, runtimeName: string): ContainerStateTerminated | undefined {
  if (newest.restartCount === 0 || old === undefined) return undefined;
  if (old.containerID === `${runtimeName}://${newest.id}`) return old.lastState?.terminated;
  return old.state?.terminated ?? old.lastState?.terminated;
}

/** A mount is recursively read-only only if the runtime says so. */
function mountsOf({ volumeMounts = [] }: Container, { recursiveReadOnlyPaths = [] }: ContainerRecord): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  const told = volumeMounts.map(({ name, mountPath, readOnly = false }): VolumeMountStatus => {
    if (!readOnly) return { name, mountPath };
    return { name, mountPath, readOnly, recursiveReadOnly: recursiveReadOnlyPaths.includes(mountPath) ? 'Enabled' : 'Disabled' };
  });
  return { volumeMounts: told };
}

function isReady(input: ContainerStatusInput, container: Container, record: ContainerRecord, isStarted: boolean, isInit: boolean): boolean {
  if (isInit && !isSidecar(container)) return record.phase === 'exited' && record.exitCode === 0;
  return isStarted && (container.readinessProbe === undefined || input.verdicts(record.id, 'readiness') === 'success');
}

/** The runtime has no record: it never ran, or its record was removed. */
function withoutRecord(pod: Pod, container: Container, old: ContainerStatus | undefined, waitingFor: string): ContainerStatus {
  if (old?.state?.terminated !== undefined) return old;
  const restarts = old?.restartCount ?? 0;
  const waiting: ContainerStatus = {
    name: container.name,
    state: { waiting: { reason: waitingFor } },
    lastState: old?.lastState ?? {},
    ready: false,
    restartCount: restarts,
    image: container.image ?? '',
    imageID: '',
    started: false,
  };
  if (old?.state?.running === undefined || old.lastState?.terminated !== undefined) return waiting;
  return {
    ...waiting,
    lastState: { terminated: lost(lostWhenDeleted) },
    restartCount: pod.metadata.deletionTimestamp === undefined ? restarts + 1 : restarts,
  };
}

/** Between the end of a container and its next start the reason why it does not start is what people want to see. */
function withFailure(
  input: ContainerStatusInput,
  container: Container,
  newest: ContainerRecord | undefined,
  isInit: boolean,
  status: ContainerStatus,
): ContainerStatus {
  const failure = input.failureOf(container.name);
  if (failure === undefined || newest?.phase === 'running' || !shouldRestart(input.pod, container, newest)) return status;
  if (isInit && !isSidecar(container) && newest?.phase === 'exited' && newest.exitCode === 0) return status;
  const ended = status.state?.terminated;
  return { ...status, state: { waiting: failure }, lastState: ended === undefined ? (status.lastState ?? {}) : { terminated: ended } };
}

/** @param old what was told of the container before */
function stateOf(record: ContainerRecord, runtimeName: string, messageBytes: number, old: ContainerStatus | undefined): ContainerState {
  switch (record.phase) {
    case 'created':
      return { waiting: {} };
    case 'running':
      return { running: { startedAt: timeOf(record.startedAtMs) } };
    case 'unknown': {
      const wasLost = old?.state?.terminated?.reason === lostReason;
      return old?.state?.running === undefined && !wasLost ? { waiting: {} } : { terminated: lost(lostAtEnd) };
    }
    case 'exited': {
      const message = cut(record.message, messageBytes);
      const terminated: ContainerStateTerminated = {
        exitCode: record.exitCode,
        reason: record.reason === '' ? (record.exitCode === 0 ? 'Completed' : 'Error') : record.reason,
        ...(message === '' ? {} : { message }),
        startedAt: timeOf(record.startedAtMs),
        finishedAt: timeOf(record.finishedAtMs),
        containerID: `${runtimeName}://${record.id}`,
      };
      return { terminated };
    }
  }
}

function lost(message: string): ContainerStateTerminated {
  return { exitCode: killedExitCode, reason: lostReason, message };
}

/** Every container of the pod has the same share. */
function messageBytesOf({ spec }: Pod): number {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return Math.floor(maxPodMessageBytes / Math.max(1, containers.length + initContainers.length + ephemeralContainers.length));
}

/** Never within a character. */
function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}

/** The API's time has whole seconds. */
export function timeOf(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
