import { isSidecar } from '#api/pod/sidecars.ts';
import type { PodRef, StopRequest } from '../pod-start/step.ts';
import { type KillDeps, killContainer } from './kill-container.ts';
import { type ContainerRecord, isRunning, type PodRuntimeState } from './pod-runtime-state.ts';

/**
 * Stops every running container at once; sidecars wait until the app containers and the sidecars after them have ended.
 *
 * @throws runtime errors, all together, after every container was tried
 */
export async function killContainers(state: PodRuntimeState, pod: PodRef, stop: StopRequest, deps: KillDeps, signal: AbortSignal): Promise<void> {
  const running = state.containers.filter(isRunning);
  const order = (stop.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const kill = (container: ContainerRecord, turn?: Promise<unknown>) => {
    const graceSeconds = Math.max(0, (stop.deadlineMs.get() - deps.clock.now()) / 1000);
    const request = { pod, spec: stop.spec, container, message: `Stopping container ${container.name}`, graceSeconds, deadlineMs: stop.deadlineMs };
    return killContainer({ ...request, turn }, deps, signal);
  };
  let all: Promise<unknown> = Promise.allSettled([]);
  const ends: Promise<void>[] = [];
  const start = (containers: readonly ContainerRecord[], turn?: Promise<unknown>) => {
    const started = containers.map((container) => kill(container, turn));
    ends.push(...started);
    all = Promise.allSettled(ends);
  };
  start(running.filter(({ name }) => !order.includes(name)));
  for (const name of order.reverse()) {
    start(
      running.filter((container) => container.name === name),
      all,
    );
  }
  const results = await Promise.allSettled(ends);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (failures.length > 0) throw failures[0];
}
