import { setTimeout as sleepFor } from 'node:timers/promises';
import { Cancelled } from './errors.ts';

export interface Timer {
  /** May be called twice and after the timer ran. */
  cancel(): void;
}

/** Time as a dependency, so that tests decide how fast it goes. */
export interface Clock {
  /** Milliseconds since the epoch, may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start, never goes back; fractions are kept. */
  monotonic(): number;
  /** @throws {Cancelled} when the signal is aborted before or meanwhile */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs `action` once after `ms`; does not keep the process alive. */
  after(ms: number, action: () => void): Timer;
}

/** What the platform's timers take: a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    try {
      let leftMs = ms;
      for (; leftMs > longestTimerMs; leftMs -= longestTimerMs) await sleepFor(longestTimerMs, undefined, { signal });
      await sleepFor(leftMs, undefined, { signal });
    } catch (cause) {
      throw new Cancelled({ message: 'the wait was cancelled', cause });
    }
  },
  after(ms, action) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      timer = leftMs > longestTimerMs ? setTimeout(() => wait(leftMs - longestTimerMs), longestTimerMs) : setTimeout(action, leftMs);
      timer.unref();
    };
    wait(ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
