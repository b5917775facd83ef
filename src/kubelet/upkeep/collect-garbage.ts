import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { PodSandboxState } from '#wire/generated/cri.ts';
import { podOf } from '../runtime/pod-runtime-state.ts';
import { type GarbageRules, planGarbage } from './plan-garbage.ts';
import { type RemoveDeps, removeContainer } from './remove-container.ts';

export interface GarbageDeps extends RemoveDeps {
  readonly rules: GarbageRules;
  readonly logger: Logger;
  /** Nothing of that pod is kept: it is gone, or was put out. Never before all sources of pods have spoken. */
  readonly keepsNothing: (podUid: string) => boolean;
}

/**
 * Removes dead containers and sandboxes. What cannot be removed is there in the next round.
 *
 * @throws when the runtime cannot say what it has
 */
export async function collectGarbage(deps: GarbageDeps, signal: AbortSignal): Promise<void> {
  const { cache, clock, rules, keepsNothing } = deps;
  for (const dead of planGarbage(cache.all(), keepsNothing, rules, clock.now())) {
    await attempt(`container ${dead.container.name}`, deps, signal, () => removeContainer(dead, deps, signal));
  }
  await removeSandboxes(deps, signal);
}

/** Those that are not ready and have no container: all of a pod of which nothing is kept, else all but the newest. */
async function removeSandboxes(deps: GarbageDeps, signal: AbortSignal): Promise<void> {
  const { runtime, cache, keepsNothing } = deps;
  const [containers, sandboxes] = await Promise.all([runtime.listContainers({}, signal), runtime.listPodSandboxes({}, signal)]);
  const used = new Set(containers.map(({ podSandboxId }) => podSandboxId));
  const newest = new Set(cache.all().flatMap(({ uid, sandboxes: [first] }) => (first === undefined || keepsNothing(uid) ? [] : [first.id])));
  for (const { id, state, labels } of sandboxes) {
    if (state === PodSandboxState.SANDBOX_READY || used.has(id) || newest.has(id) || podOf(labels) === undefined) continue;
    await attempt(`sandbox ${id}`, deps, signal, async () => {
      await runtime.stopPodSandbox(id, signal);
      await runtime.removePodSandbox(id, signal);
      await cache.refreshSandbox(id, signal);
    });
  }
}

async function attempt(what: string, { logger }: GarbageDeps, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    logger.warn('a dead container or sandbox cannot be removed', { what, code: error.code, error: messageOf(error) });
  }
}
