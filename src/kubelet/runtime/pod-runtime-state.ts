import {
  type Container,
  ContainerState,
  type ContainerStatus,
  NamespaceMode,
  type PodSandbox,
  PodSandboxState,
  type PodSandboxStatus,
} from '#wire/generated/cri.ts';
import { parseSize, type Size } from '../resources/resize/sizes.ts';
import { annotation, label } from './labels.ts';

export interface SandboxRecord {
  readonly id: string;
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAtMs: number;
  readonly hostNetwork: boolean;
  /** Primary first; `undefined` when the runtime says nothing of the network. */
  readonly ips: readonly string[] | undefined;
}

export type ContainerPhase = 'created' | 'running' | 'exited' | 'unknown';

export interface ContainerRecord {
  readonly id: string;
  readonly name: string;
  readonly phase: ContainerPhase;
  readonly createdAtMs: number;
  /** 0: never. */
  readonly startedAtMs: number;
  /** 0: never. */
  readonly finishedAtMs: number;
  readonly exitCode: number;
  /** The runtime's words. */
  readonly reason: string;
  /** The runtime's message and what the container left as its last words. */
  readonly message: string;
  readonly image: string;
  readonly imageId: string;
  readonly hash: string;
  readonly restartCount: number;
  readonly logPath: string;
  /** From the annotations, for pods whose spec is gone. */
  readonly graceSeconds: number | undefined;
  readonly preStopJson: string | undefined;
  /** CPU and memory with which it was made; `undefined` when it does not say. */
  readonly size: Size | undefined;
  /** Whom its first process runs as; not every runtime tells. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] } | undefined;
  /** Inside the container. */
  readonly recursiveReadOnlyPaths?: readonly string[] | undefined;
  /** Images that are mounted into it, as they were named to the runtime. */
  readonly volumeImages?: readonly string[] | undefined;
}

/** One pod as the runtime has it; lists are newest first. Immutable: a change makes a new one. */
export interface PodRuntimeState {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: readonly SandboxRecord[];
  readonly containers: readonly ContainerRecord[];
}

export function emptyState(pod: { readonly uid: string; readonly namespace: string; readonly name: string }): PodRuntimeState {
  return { uid: pod.uid, namespace: pod.namespace, name: pod.name, sandboxes: [], containers: [] };
}

/** The newest container of that name. */
export function newestOf(state: PodRuntimeState, name: string): ContainerRecord | undefined {
  return state.containers.find((container) => container.name === name);
}

export function readySandbox(state: PodRuntimeState): SandboxRecord | undefined {
  return state.sandboxes.find((sandbox) => sandbox.ready);
}

export function isRunning(container: ContainerRecord): boolean {
  return container.phase === 'running' || container.phase === 'unknown';
}

/** Pod of a sandbox or container; `undefined` when it was not made by a kubelet. */
export function podOf(
  labels: Readonly<Record<string, string>>,
): { readonly uid: string; readonly namespace: string; readonly name: string } | undefined {
  const uid = labels[label.podUid];
  const name = labels[label.podName];
  const namespace = labels[label.podNamespace];
  return uid === undefined || name === undefined || namespace === undefined ? undefined : { uid, namespace, name };
}

export function sandboxRecord(status: PodSandboxStatus): SandboxRecord {
  const { network } = status;
  const additional = network?.additionalIps.map(({ ip }) => ip) ?? [];
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    ready: status.state === PodSandboxState.SANDBOX_READY,
    createdAtMs: toMs(status.createdAt),
    hostNetwork: status.linux?.namespaces?.options?.network === NamespaceMode.NODE,
    ips: network === undefined ? undefined : [network.ip, ...additional].filter((ip) => ip !== ''),
  };
}

/** @param lastWords what the container wrote to its termination log */
export function containerRecord(status: ContainerStatus, lastWords: string): ContainerRecord {
  const { annotations } = status;
  return {
    id: status.id,
    name: status.labels[label.containerName] ?? status.metadata?.name ?? '',
    phase: phaseOf(status.state),
    createdAtMs: toMs(status.createdAt),
    startedAtMs: toMs(status.startedAt),
    finishedAtMs: toMs(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: [status.message, lastWords].filter((part) => part !== '').join(': '),
    image: status.image?.image ?? '',
    imageId: status.imageRef,
    hash: annotations[annotation.hash] ?? '',
    restartCount: Number(annotations[annotation.restartCount] ?? status.metadata?.attempt ?? 0),
    logPath: status.logPath,
    graceSeconds: secondsOf(annotations[annotation.podDeletionGracePeriod] ?? annotations[annotation.podTerminationGracePeriod]),
    preStopJson: annotations[annotation.preStopHandler],
    size: parseSize(annotations[annotation.size]),
    user: status.user?.linux,
    recursiveReadOnlyPaths: status.mounts.filter((mount) => mount.recursiveReadOnly).map(({ containerPath }) => containerPath),
    volumeImages: status.mounts.flatMap(({ image }) => (image === undefined ? [] : [image.image])),
  };
}

/** Whether a listed sandbox or container is what the record says: then nobody has to ask for its status. */
export function isListedAs(record: SandboxRecord | ContainerRecord, listed: PodSandbox | Container): boolean {
  if ('ready' in record) return record.ready === (listed.state === PodSandboxState.SANDBOX_READY);
  return record.phase === phaseOf(listed.state as ContainerState); // a container record belongs to a listed container: the ids are the same
}

export function withSandbox(state: PodRuntimeState, sandbox: SandboxRecord): PodRuntimeState {
  return { ...state, sandboxes: newestFirst([sandbox, ...state.sandboxes.filter(({ id }) => id !== sandbox.id)]) };
}

export function withContainer(state: PodRuntimeState, container: ContainerRecord): PodRuntimeState {
  return { ...state, containers: newestFirst([container, ...state.containers.filter(({ id }) => id !== container.id)]) };
}

export function without(state: PodRuntimeState, id: string): PodRuntimeState {
  return {
    ...state,
    sandboxes: state.sandboxes.filter((sandbox) => sandbox.id !== id),
    containers: state.containers.filter((container) => container.id !== id),
  };
}

function newestFirst<T extends { readonly createdAtMs: number; readonly id: string }>(records: readonly T[]): readonly T[] {
  return [...records].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
}

function phaseOf(state: ContainerState): ContainerPhase {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created';
    case ContainerState.CONTAINER_RUNNING:
      return 'running';
    case ContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

/** CRI has nanoseconds in a number that keeps fewer digits; milliseconds with a fraction are exact enough to order by. */
function toMs(nanoseconds: number): number {
  return nanoseconds / 1e6;
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = Number(text);
  return text === undefined || !Number.isFinite(seconds) ? undefined : seconds;
}
