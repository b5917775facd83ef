import { humanDuration } from '#api/human-duration.ts';
import type { ContainerStatus, Pod, PodStatus } from '#api/types/core-v1.ts';
import { sidecarsOf } from './sidecars.ts';

/** What `kubectl get pods` shows of a pod. */
export interface PrintedStatus {
  /** `1/2`. */
  readonly ready: string;
  /** One word: `Running`, `Init:0/1`, `CrashLoopBackOff`, `Terminating`, … */
  readonly status: string;
  /** `0`, or `3 (10s ago)`. */
  readonly restarts: string;
}

export function printedStatus(pod: Pod, nowMs: number): PrintedStatus {
  const sidecars = new Set(sidecarsOf(pod).map((one) => one.name));
  const init = initProgress(pod, sidecars);
  const isGated = pod.status?.conditions?.some((condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated');
  const first = isGated === true ? 'SchedulingGated' : pod.status?.reason || pod.status?.phase || '';
  const isInitialized = init.word === undefined || isTrue(pod.status, 'Initialized');
  const main = isInitialized ? containerProgress(pod.status, init.word ?? first) : undefined;
  const word = terminatingWord(pod) ?? main?.word ?? init.word ?? first;
  const counted = main === undefined ? init.all : join(init.sidecars, main.restarts);
  const total = (pod.spec?.containers.length ?? 0) + sidecars.size;
  return { ready: `${init.readyCount + (main?.readyCount ?? 0)}/${total}`, status: word, restarts: restartsText(counted, nowMs) };
}

interface Restarts {
  readonly count: number;
  /** When a container last ended, if one did. */
  readonly lastEndMs: number | undefined;
}

interface InitProgress {
  /** Present while init containers run, or when one stands in the way. */
  readonly word: string | undefined;
  readonly readyCount: number;
  readonly all: Restarts;
  readonly sidecars: Restarts;
}

const none: Restarts = { count: 0, lastEndMs: undefined };

function initProgress(pod: Pod, sidecars: ReadonlySet<string>): InitProgress {
  const statuses = pod.status?.initContainerStatuses ?? [];
  let all = none;
  let ofSidecars = none;
  let readyCount = 0;
  for (const [index, status] of statuses.entries()) {
    const isSidecar = sidecars.has(status.name);
    all = join(all, restartsOf(status));
    if (isSidecar) ofSidecars = join(ofSidecars, restartsOf(status));
    if (status.state?.terminated?.exitCode === 0) continue;
    if (isSidecar && status.started === true) {
      if (status.ready) readyCount += 1;
      continue;
    }
    const word = initWord(status, index, pod.spec?.initContainers?.length ?? 0);
    return { word, readyCount, all, sidecars: ofSidecars };
  }
  return { word: undefined, readyCount, all, sidecars: ofSidecars };
}

function initWord({ state }: ContainerStatus, index: number, total: number): string {
  const { terminated, waiting } = state ?? {};
  if (terminated !== undefined) return `Init:${terminated.reason || exitText(terminated)}`;
  const reason = waiting?.reason ?? '';
  return reason !== '' && reason !== 'PodInitializing' ? `Init:${reason}` : `Init:${index}/${total}`;
}

function containerProgress(
  status: PodStatus | undefined,
  first: string,
): { readonly word: string; readonly readyCount: number; readonly restarts: Restarts } {
  let word = first;
  let errorWord = '';
  let isRunning = false;
  let readyCount = 0;
  let restarts = none;
  for (const one of (status?.containerStatuses ?? []).toReversed()) {
    restarts = join(restarts, restartsOf(one));
    const { waiting, terminated, running } = one.state ?? {};
    if (waiting !== undefined && waiting.reason !== undefined && waiting.reason !== '') word = waiting.reason;
    else if (terminated !== undefined) {
      word = terminated.reason || exitText(terminated);
      if (terminated.exitCode !== 0) errorWord = word;
    } else if (one.ready && running !== undefined) {
      isRunning = true;
      readyCount += 1;
    }
  }
  if (word === 'Completed') {
    if (isRunning && isTrue(status, 'Ready')) word = 'Running';
    else if (errorWord !== '') word = errorWord;
    else if (isRunning) word = 'NotReady';
  }
  return { word, readyCount, restarts };
}

function terminatingWord({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : 'Terminating';
}

function exitText(terminated: { readonly signal?: number | undefined; readonly exitCode: number }): string {
  return (terminated.signal ?? 0) !== 0 ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function restartsOf(status: ContainerStatus): Restarts {
  const ended = status.lastState?.terminated?.finishedAt;
  const lastEndMs = ended === undefined ? Number.NaN : Date.parse(ended);
  return { count: status.restartCount, lastEndMs: Number.isNaN(lastEndMs) ? undefined : lastEndMs };
}

function join(a: Restarts, b: Restarts): Restarts {
  const ends = [a.lastEndMs, b.lastEndMs].filter((end) => end !== undefined);
  return { count: a.count + b.count, lastEndMs: ends.length === 0 ? undefined : Math.max(...ends) };
}

function restartsText({ count, lastEndMs }: Restarts, nowMs: number): string {
  return count === 0 || lastEndMs === undefined ? String(count) : `${count} (${humanDuration(nowMs - lastEndMs)} ago)`;
}

function isTrue(status: PodStatus | undefined, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
}
