import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { restartPolicyOf, restartsAfter } from '../runtime/restart-rules.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
}

/** @param ended the pod is stopped for good: nothing in it will run again */
export function phaseOf(pod: Pod, statuses: ContainerStatuses, ended: boolean): Phase {
  const init = countInit(pod, statuses.init);
  const app = countApps(pod, statuses.containers);
  if (init.failed > 0 && restartPolicyOf(pod) === 'Never') return 'Failed';
  if (init.pending > 0 && app.running + app.stopped === 0) return ended ? endPhase(app) : 'Pending';
  if (app.waiting > 0) return ended ? endPhase(app) : 'Pending';
  if (app.running > 0 && app.unknown === 0) return 'Running';
  if (app.running === 0 && app.stopped > 0 && app.unknown === 0) {
    if (ended) return endPhase(app);
    const policy = restartPolicyOf(pod);
    if (app.restarting > 0 || policy === 'Always') return 'Running';
    if (app.stopped === app.succeeded) return 'Succeeded';
    return policy === 'Never' ? 'Failed' : 'Running';
  }
  return ended ? endPhase(app) : 'Pending';
}

interface AppCounts {
  readonly running: number;
  readonly waiting: number;
  readonly stopped: number;
  readonly succeeded: number;
  readonly unknown: number;
  /** Stopped, but its own rules start it again. */
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
      if (hasOwnRules(container) && restartsAfter(pod, container, end.exitCode)) counts.restarting += 1;
    } else if (state?.waiting !== undefined) counts.waiting += 1;
    else counts.unknown += 1;
  }
  return counts;
}

function countInit(pod: Pod, statuses: readonly ContainerStatus[]): { readonly pending: number; readonly failed: number } {
  const counts = { pending: 0, failed: 0 };
  for (const container of pod.spec?.initContainers ?? []) {
    const status = statuses.find(({ name }) => name === container.name);
    const { state, lastState } = status ?? {};
    const end = state?.terminated ?? lastState?.terminated;
    if (isSidecar(container)) {
      const isUp = state?.running !== undefined && status?.started === true;
      const neverRan = state?.running === undefined && end === undefined;
      if ((state?.running !== undefined && !isUp) || neverRan) counts.pending += 1;
    } else if (state?.terminated !== undefined) counts.failed += state.terminated.exitCode === 0 ? 0 : 1;
    else if (state?.waiting !== undefined && lastState?.terminated !== undefined) counts.failed += lastState.terminated.exitCode === 0 ? 0 : 1;
    else counts.pending += 1;
  }
  return counts;
}

function hasOwnRules(container: Container): boolean {
  return container.restartPolicy !== undefined || (container.restartPolicyRules ?? []).length > 0;
}
