import { isSidecar } from '#api/pod/sidecars.ts';
import type { ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { restartsAfter } from '../runtime/restart-rules.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
}

/** @param ended the pod is stopped for good: nothing in it will run again */
export function phaseOf(pod: Pod, statuses: ContainerStatuses, ended: boolean): Phase {
  const init = countInit(pod, statuses.init);
  const app = countApps(pod, statuses.containers);
  if (init.failedForGood > 0) return 'Failed';
  if (init.pending > 0 && app.running + app.stopped === 0) return ended ? endPhase(app) : 'Pending';
  if (app.waiting > 0) return ended ? endPhase(app) : 'Pending';
  if (app.running > 0 && app.unknown === 0) return 'Running';
  if (app.running > 0 || app.stopped === 0 || app.unknown > 0) return ended ? endPhase(app) : 'Pending';
  if (!ended && app.restarting > 0) return 'Running';
  return endPhase(app);
}

interface AppCounts {
  readonly running: number;
  readonly waiting: number;
  readonly stopped: number;
  readonly succeeded: number;
  readonly unknown: number;
  /** Stopped, but its rules or the policy start it again. */
  readonly restarting: number;
}

function endPhase({ stopped, succeeded, waiting, unknown }: AppCounts): Phase {
  return stopped > 0 && stopped === succeeded && waiting + unknown === 0 ? 'Succeeded' : 'Failed';
}

function countApps(pod: Pod, statuses: readonly ContainerStatus[]): AppCounts {
  const counts = { running: 0, waiting: 0, stopped: 0, succeeded: 0, unknown: 0, restarting: 0 };
  for (const container of pod.spec?.containers ?? []) {
    const status = statuses.find(({ name }) => name === container.name);
    const { state, lastState } = status ?? {};
    const end = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
    if (state?.running !== undefined) counts.running += 1;
    else if (end !== undefined) {
      counts.stopped += 1;
      if (end.exitCode === 0 && state?.terminated !== undefined) counts.succeeded += 1;
      if (restartsAfter(pod, container, end.exitCode)) counts.restarting += 1;
    } else if (state?.waiting !== undefined) counts.waiting += 1;
    else counts.unknown += 1;
  }
  return counts;
}

function countInit(pod: Pod, statuses: readonly ContainerStatus[]): { readonly pending: number; readonly failedForGood: number } {
  const counts = { pending: 0, failedForGood: 0 };
  for (const container of pod.spec?.initContainers ?? []) {
    const status = statuses.find(({ name }) => name === container.name);
    const { state, lastState } = status ?? {};
    const end = state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
    if (isSidecar(container)) {
      const isUp = state?.running !== undefined && status?.started === true;
      if (end === undefined && !isUp) counts.pending += 1;
    } else if (end === undefined) counts.pending += 1;
    else if (end.exitCode !== 0 && !restartsAfter(pod, container, end.exitCode)) counts.failedForGood += 1;
  }
  return counts;
}
