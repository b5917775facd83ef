import { AppError, Cancelled } from '#base/errors.ts';
import type { WakeKey } from '#startup/transition.ts';
import { RuntimeError } from '#wire/cri/errors.ts';
import type { Wait } from './step.ts';

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
