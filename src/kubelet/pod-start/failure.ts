import { AppError, Cancelled } from '#base/errors.ts';
import type { WakeKey } from '#startup/transition.ts';
import { RuntimeError } from '#wire/cri/errors.ts';
import type { BlockedStart, StartReason } from '../ports/pod-runtime.ts';
import type { PodRef, StopRequest, Wait } from './step.ts';

/** Upstream's pause after a sync that failed. */
const retryMs = 10_000;

/**
 * A failure that a step expects, as a wait under one of its reasons: it is tried again, and can be explained.
 *
 * @throws what is not an error of the world, and what only says that the work was given up
 */
export function waitAfter<Reason extends string>(
  error: unknown,
  reason: Reason,
  says: (detail: string) => string,
  wakeOn: readonly WakeKey[] = [{ kind: 'time' }],
): Wait<Reason> {
  if (!(error instanceof AppError) || error instanceof Cancelled) throw error;
  const detail = error instanceof RuntimeError ? error.details : error.message;
  return { kind: 'wait', reason, detail: says(detail), wakeOn, atLatestMs: error.retry === 'now' ? 0 : retryMs };
}

/** Something of a pod that nobody knows is still on the node. */
class OrphanStays extends AppError {
  readonly code = 'ORPHAN_STAYS';
  readonly retry = 'backoff';
}

/**
 * Work at the end of a pod. What fails is told in upstream's words where nobody knows the pod: its uid is all that there is to say.
 *
 * @param doing after `error occurred when trying to`
 */
export async function atEnd(pod: PodRef, { reason }: StopRequest, doing: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (reason !== 'orphan' || !(error instanceof AppError) || error instanceof Cancelled) throw error;
    const what = error.code === 'VOLUME_STAYS' ? error.message : `error occurred when trying to ${doing}: ${error.message}`;
    const message = `orphaned pod "${pod.uid}" found, but ${what}`;
    throw new OrphanStays({ message, hint: error.hint, cause: error });
  }
}

/** Until one of them may be tried again. */
export function waitForStarts(blocked: readonly BlockedStart[]): Wait<StartReason> {
  const [first] = blocked;
  if (first === undefined) throw new Error('nothing is blocked');
  return {
    kind: 'wait',
    reason: first.reason,
    detail: blocked.map(({ container, message }) => `${container}: ${message}`).join('; '),
    wakeOn: blocked.flatMap(({ wakeOn }) => wakeOn),
    atLatestMs: Math.min(...blocked.map(({ retryInMs }) => retryInMs)),
  };
}
