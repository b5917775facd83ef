import { writeFileSync } from 'node:fs';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';

/** Upstream's: somebody else may have changed it. */
const everyMs = 300_000;

/** Keeps this process from being ended before others when memory runs short. @param score -1000 (never) to 1000 (first) */
export function keepOomScore(score: number, clock: Clock, logger: Logger, signal: AbortSignal): void {
  if (signal.aborted) return;
  try {
    writeFileSync('/proc/self/oom_score_adj', String(score));
  } catch (error) {
    // Without the right to it (a container, a user's own namespace) the kubelet works all the same.
    logger.warn('the kubelet is not kept from the end by memory shortage', { score, error: messageOf(error) });
    return;
  }
  const timer = clock.after(everyMs, () => keepOomScore(score, clock, logger, signal));
  onAbort(signal, () => timer.cancel());
}
