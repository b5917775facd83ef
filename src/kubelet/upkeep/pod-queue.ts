import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Watchable } from '#base/watchable.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import { whenQuiet } from './when-quiet.ts';

export interface PodQueueDeps {
  readonly cache: RuntimeCache;
  /** Containers are being started: what can wait does. */
  readonly busy: Watchable<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface PodWork {
  /** For the log. */
  readonly name: string;
  /** Whether the pod needs a turn. Asked after every change of a pod: it must cost next to nothing. */
  readonly isNeeded: (podUid: string) => boolean;
  readonly run: (podUid: string, signal: AbortSignal) => Promise<void>;
}

/** First of all comes what the pod's own worker makes of the change. */
const pauseMs = 500;
/** Not longer than that for those who start containers. */
const patienceMs = 5000;

/** Until the signal is aborted, works on pods that have changed in the runtime: one after another, when there is nothing better to do. */
export async function workOnChangedPods({ name, isNeeded, run }: PodWork, deps: PodQueueDeps, signal: AbortSignal): Promise<void> {
  const { cache, busy, clock, logger } = deps;
  const waiting = new Set<string>();
  let isAtWork = false;
  const tasks = new TaskGroup((what, error) => logger.error('upkeep has a bug', { what, error: messageOf(error) }));

  const work = async (inner: AbortSignal) => {
    try {
      await clock.sleep(pauseMs, inner);
      for (let [uid] = waiting; uid !== undefined; [uid] = waiting) {
        await whenQuiet(busy, patienceMs, clock, inner);
        waiting.delete(uid);
        try {
          await run(uid, inner);
        } catch (error) {
          if (inner.aborted || !(error instanceof AppError)) throw error;
          logger.warn('upkeep of a pod failed', { what: name, pod: uid, code: error.code, error: messageOf(error) }); // the next round does it
        }
      }
    } finally {
      isAtWork = false;
    }
  };
  const unsubscribe = cache.subscribe((uid) => {
    if (!isNeeded(uid)) return;
    waiting.add(uid);
    if (isAtWork) return;
    isAtWork = true;
    tasks.run(name, work);
  });
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  unsubscribe();
  await tasks.close();
}
