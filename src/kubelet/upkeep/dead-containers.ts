import type { ContainerRecord } from '../runtime/pod-runtime-state.ts';
import { planPodGarbage } from './plan-garbage.ts';
import { type PodQueueDeps, workOnChangedPods } from './pod-queue.ts';
import { type RemoveDeps, removeContainer } from './remove-container.ts';

export interface DeadContainersDeps extends RemoveDeps, PodQueueDeps {
  /** Dead containers that stay of each name. */
  readonly keepPerName: number;
  /** Nothing of that pod is kept. */
  readonly keepsNothing: (podUid: string) => boolean;
}

/** Removes dead containers when one more has died: those that crash again and again leave no heap. */
export function followDeaths(deps: DeadContainersDeps, signal: AbortSignal): Promise<void> {
  const garbageOf = (uid: string): readonly ContainerRecord[] => {
    const state = deps.cache.get(uid);
    if (state === undefined) return [];
    return planPodGarbage(state, deps.keepsNothing(uid) ? 0 : deps.keepPerName);
  };
  const run = async (uid: string, inner: AbortSignal) => {
    const pod = deps.cache.get(uid);
    if (pod === undefined) return;
    for (const container of garbageOf(uid)) await removeContainer({ pod, container }, deps, inner);
  };
  return workOnChangedPods({ name: 'dead containers', isNeeded: (uid) => garbageOf(uid).length > 0, run }, deps, signal);
}
