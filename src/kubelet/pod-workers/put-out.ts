import type { Pod } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { EventsPort } from '../ports/events.ts';
import { refOf } from '../runtime/pod-ref.ts';
import type { Refusal } from '../status/compute-pod-status.ts';
import type { PodRemains, PodWorkers } from './pod-workers.ts';

export interface PutOutDeps {
  readonly workers: Pick<PodWorkers, 'putOut' | 'remainsOf' | 'subscribe'>;
  readonly events: EventsPort;
  readonly clock: Clock;
}

/** However short the grace: the runtime needs its time too. Upstream's number. */
const leastPatienceMs = 10_000;

/**
 * Stops a pod for the node's sake (eviction, preemption, shutdown) and waits until nothing of it runs.
 *
 * @param graceSeconds absent: the pod's own
 * @returns false when it took longer than half as much again as its grace; the end goes on then
 */
export async function putOut(
  pod: Pod,
  refusal: Refusal,
  graceSeconds: number | undefined,
  { workers, events, clock }: PutOutDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const grace = graceSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
  const { uid } = pod.metadata;
  if (!workers.putOut(uid, grace * 1000, refusal)) return true;
  const patienceMs = Math.max(leastPatienceMs, (grace + Math.floor(grace / 2)) * 1000);
  if (await untilLeft(uid, 'ended', patienceMs, { workers, clock }, signal)) return true;
  events.emit(refOf(pod), {
    type: 'Warning',
    reason: 'ExceededGracePeriod',
    message: 'Container runtime did not kill the pod within specified grace period.',
  });
  return false;
}

/** @returns whether no more than that is left of the pod, within the time */
export function untilLeft(
  podUid: string,
  atMost: Exclude<PodRemains, 'running'>,
  patienceMs: number,
  { workers, clock }: Pick<PutOutDeps, 'workers' | 'clock'>,
  signal: AbortSignal,
): Promise<boolean> {
  const isSo = () => ['stopped', atMost].includes(workers.remainsOf(podUid));
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      timer.cancel();
      unsubscribe();
      forget();
      settle();
    };
    const look = () => {
      if (isSo()) end(() => resolve(true));
    };
    const timer = clock.after(patienceMs, () => end(() => resolve(false)));
    const unsubscribe = workers.subscribe((uid) => uid === podUid && look());
    const forget = onAbort(signal, () => queueMicrotask(() => end(() => reject(reasonOf(signal)))));
    look();
  });
}
