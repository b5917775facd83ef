import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { needsRestartToResize } from '../resources/resize/resize-texts.ts';
import { containerHash } from './container-hash.ts';
import type { ContainerKill, ProbeVerdicts } from './pod-actions.ts';
import { type ContainerRecord, newestOf, type PodRuntimeState } from './pod-runtime-state.ts';
import { restartsAfter } from './restart-rules.ts';

/** Nobody knows how it ended: not well. */
const lostExitCode = 137;

export interface InitPlan {
  /** An init container failed for good. */
  readonly killPod: boolean;
  readonly initialised: boolean;
  readonly kill: readonly ContainerKill[];
  /** In the order of the spec. */
  readonly start: readonly string[];
}

/** What one init container asks for. */
interface Verdict {
  readonly kill?: ContainerKill;
  /** Indexes. */
  readonly start?: readonly number[];
  readonly initialised?: boolean;
  readonly killPod?: boolean;
}

/**
 * Looks from the last init container to the first, because records of early ones may be gone: the last one that has a record says how far
 * the pod is. Before it only sidecars still matter.
 */
export function planInitContainers(pod: Pod, observed: PodRuntimeState, verdicts: ProbeVerdicts): InitPlan {
  const containers = pod.spec?.initContainers ?? [];
  let initialised = containers.length === 0 || appHasStarted(pod, observed);
  let found = initialised;
  const kill: ContainerKill[] = [];
  const start: number[] = [];
  for (const [index, container] of [...containers.entries()].reverse()) {
    const status = newestOf(observed, container.name);
    if (status === undefined) {
      if (found && isSidecar(container)) start.push(index);
      continue;
    }
    if (found && !isSidecar(container)) continue;
    const last = index === containers.length - 1;
    const plan = isSidecar(container)
      ? planSidecar(container, index, last, status, !found, verdicts)
      : planOrdinary(pod, container, index, last, status);
    if (plan.killPod === true) return { killPod: true, initialised: false, kill, start: [] };
    if (plan.kill !== undefined) kill.push(plan.kill);
    if (plan.initialised === true) initialised = true;
    start.push(...(plan.start ?? []));
    found = true;
  }
  if (!found) start.push(0);
  const wanted = new Set(start);
  return { killPod: false, initialised, kill, start: containers.filter((_, index) => wanted.has(index)).map(({ name }) => name) };
}

function planOrdinary(pod: Pod, container: Container, index: number, last: boolean, status: ContainerRecord): Verdict {
  switch (status.phase) {
    case 'created':
      return { start: [index] };
    case 'running':
      return {};
    case 'exited':
      if (status.exitCode === 0) return last ? { initialised: true } : { start: [index + 1] };
      return restartsAfter(pod, container, status.exitCode) ? { start: [index] } : { killPod: true };
    case 'unknown':
      if (!restartsAfter(pod, container, lostExitCode)) return { killPod: true };
      return { start: [index], kill: { container: status, message: unknownMessage(container) } };
  }
}

/** @param first nobody after it has started yet: it decides whether the next one may */
function planSidecar(container: Container, index: number, last: boolean, status: ContainerRecord, first: boolean, verdicts: ProbeVerdicts): Verdict {
  const again = (message: string, probe?: 'liveness' | 'startup'): Verdict => ({ start: [index], kill: { container: status, message, probe } });
  switch (status.phase) {
    case 'created':
    case 'exited':
      return { start: [index] };
    case 'unknown':
      return again(unknownMessage(container));
    case 'running': {
      if (container.startupProbe !== undefined) {
        const startup = verdicts(status.id, 'startup');
        if (startup === 'failure') return again(`Init container ${container.name} failed startup probe`, 'startup');
        if (startup !== 'success') return {};
      }
      const passed: Verdict = last ? { initialised: true } : first ? { start: [index + 1] } : {};
      const replace = (verdict: Verdict): Verdict => ({ ...passed, ...verdict, start: [...(passed.start ?? []), index] });
      if (status.hash !== '' && status.hash !== containerHash(container))
        return replace(again(`Init container ${container.name} definition changed`));
      if (container.livenessProbe !== undefined && verdicts(status.id, 'liveness') === 'failure') {
        return replace(again(`Init container ${container.name} failed liveness probe`, 'liveness'));
      }
      if (needsRestartToResize(container, status.size)) return replace(again(`Container ${container.name} resize requires restart`));
      return passed;
    }
  }
}

/** An exited one does not count: after a reboot all are exited, and the init containers have to run again. */
function appHasStarted(pod: Pod, observed: PodRuntimeState): boolean {
  return (pod.spec?.containers ?? []).some(({ name }) => {
    const phase = newestOf(observed, name)?.phase;
    return phase === 'created' || phase === 'running';
  });
}

function unknownMessage(container: Container): string {
  return `Init container ${container.name} is in "unknown" state, try killing it before restart`;
}
