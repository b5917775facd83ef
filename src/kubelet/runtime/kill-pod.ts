import { isSidecar } from '#api/pod/sidecars.ts';
import type { PodRef, StopRequest } from '../pod-start/step.ts';
import { type KillDeps, killContainer } from './kill-container.ts';
import { type ContainerRecord, isRunning, type PodRuntimeState } from './pod-runtime-state.ts';

/**
 * Stops every running container at once; only sidecars wait, until the app containers and the sidecars after them have ended.
 *
 * @throws runtime errors, the first of them, after every container was tried
 */
export async function killContainers(state: PodRuntimeState, pod: PodRef, stop: StopRequest, deps: KillDeps, signal: AbortSignal): Promise<void> {
  const running = state.containers.filter(isRunning);
  const sidecars = (stop.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const apps = new Set((stop.spec?.containers ?? []).map(({ name }) => name));
  const kill = (container: ContainerRecord, turn?: Promise<unknown>) => {
    const graceSeconds = Math.max(0, (stop.deadlineMs.get() - deps.clock.now()) / 1000);
    const request = { pod, spec: stop.spec, container, message: `Stopping container ${container.name}`, graceSeconds, deadlineMs: stop.deadlineMs };
    return killContainer({ ...request, turn }, deps, signal);
  };
  const ends = running.filter(({ name }) => !sidecars.includes(name)).map((container) => ({ container, end: kill(container) }));
  // Nobody needs a sidecar but the apps and what was started before it: debuggers and plain init containers hold up nobody.
  const needing = ends.filter(({ container }) => apps.has(container.name)).map(({ end }) => end);
  for (const name of sidecars.reverse()) {
    const turn = Promise.allSettled(needing);
    for (const container of running.filter((one) => one.name === name)) {
      const end = kill(container, turn);
      ends.push({ container, end });
      needing.push(end);
    }
  }
  const results = await Promise.allSettled(ends.map(({ end }) => end));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (failures.length > 0) throw failures[0];
}
