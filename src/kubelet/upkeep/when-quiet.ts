import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import { type Watchable, waitFor } from '#base/watchable.ts';

/** Resolves when no container is being started; after `mostMs` in any case: a node that is always busy has its upkeep too. */
export async function whenQuiet(busy: Watchable<boolean>, mostMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await withDeadline('the starts', mostMs, clock, signal, (inner) => waitFor(busy, (isBusy) => !isBusy, inner));
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
  }
}
