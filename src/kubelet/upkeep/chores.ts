import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A round that takes longer is given up: what it waits for will not come any more. */
const longestRoundMs = 600_000;

/** Does each chore again and again, the first time at once, until the signal is aborted. One that fails is done again when its time comes. */
export async function doChores(chores: readonly Chore[], clock: Clock, logger: Logger, signal: AbortSignal): Promise<void> {
  await Promise.all(
    chores.map(async ({ name, everyMs, run }) => {
      while (!signal.aborted) {
        try {
          await withDeadline(name, longestRoundMs, clock, signal, run);
        } catch (error) {
          if (!signal.aborted) logger.warn('a chore failed', { chore: name, error: messageOf(error) });
        }
        await clock.sleep(everyMs, signal).catch(() => undefined); // the loop's condition sees the abort
      }
    }),
  );
}
