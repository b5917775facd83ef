import type { Pod } from '#api/types/core-v1.ts';
import { type KillDeps, killContainer } from './kill-container.ts';
import { refOf } from './pod-ref.ts';
import { emptyState, isRunning } from './pod-runtime-state.ts';
import { triggerOfRestartAll } from './restart-rules.ts';

/**
 * Stops all containers of the pod, without their hooks, and removes their records, so that the pod begins anew in the sandbox that it has.
 * The record that asked for it goes last: whoever is interrupted here finds it and goes on.
 */
export async function restartAll(pod: Pod, deps: KillDeps, signal: AbortSignal): Promise<void> {
  const { runtime, cache } = deps;
  const ref = refOf(pod);
  const names = new Set([...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({ name }) => name));
  const observed = cache.get(ref.uid) ?? emptyState(ref);
  const trigger = triggerOfRestartAll(pod, observed);
  if (trigger === undefined) return;
  const all = observed.containers.filter(({ name }) => names.has(name));
  await Promise.all(
    all.filter(isRunning).map((container) => {
      const message = `Stopping container ${container.name}`;
      return killContainer({ pod: ref, spec: pod.spec, container, message, graceSeconds: 0 }, deps, signal);
    }),
  );
  const remove = async ({ id }: { readonly id: string }) => {
    await runtime.removeContainer(id, signal);
    await cache.refreshContainer(id, signal);
  };
  await Promise.all(all.filter(({ id }) => id !== trigger.id).map(remove));
  await remove(trigger);
}
