import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { RevisionCompacted, type Storage } from '#store/storage.ts';

/** Every so often the store forgets what was before the last time: its history is one to two such periods long. */
export async function runCompaction(storage: Storage, everyMs: number, clock: Clock, logger: Logger, signal: AbortSignal): Promise<void> {
  let before = storage.revision();
  for (;;) {
    await clock.sleep(everyMs, signal);
    const now = storage.revision();
    try {
      if (before < now) await storage.compact(before, signal);
    } catch (error) {
      if (signal.aborted) return;
      // Another API server of the same store may have been faster.
      if (!(error instanceof RevisionCompacted)) logger.warn('the history of the store was not compacted', { revision: before, error });
    }
    before = now;
  }
}
