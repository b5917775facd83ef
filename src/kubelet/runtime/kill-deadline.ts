import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import type { Clock, Timer } from '#base/clock.ts';
import { Cancelled } from '#base/errors.ts';
import type { Watchable } from '#base/watchable.ts';

/**
 * Runs `work` for as long as there is time; the deadline may come nearer meanwhile.
 *
 * @returns whether it was done in time; its signal is aborted when it was not
 * @throws what `work` throws in time, and {Cancelled} with the outer signal
 */
export async function untilDeadline(
  deadlineMs: Watchable<number>,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  throwIfAborted(signal);
  const inner = new AbortController();
  let timer: Timer | undefined;
  const set = (whenOver: () => void) => {
    timer?.cancel();
    timer = clock.after(Math.max(0, deadlineMs.get() - clock.now()), whenOver);
  };
  const undo: (() => void)[] = [];
  try {
    const isOver = new Promise<false>((resolve, reject) => {
      const end = () => {
        resolve(false);
        inner.abort(new Cancelled({ message: 'the time is over' }));
      };
      set(end);
      undo.push(
        deadlineMs.subscribe(() => set(end)),
        onAbort(signal, () => {
          reject(reasonOf(signal));
          inner.abort(signal.reason);
        }),
      );
    });
    return await Promise.race([work(inner.signal).then(() => true), isOver]);
  } finally {
    timer?.cancel();
    for (const action of undo) action();
  }
}

/** Runs `work` again, from its start, each time the deadline comes nearer while it runs. */
export async function anewWhenNearer<T>(deadlineMs: Watchable<number>, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  for (;;) {
    const cut = new AbortController();
    const forget = onAbort(signal, () => cut.abort(signal.reason));
    const unsubscribe = deadlineMs.subscribe(() => cut.abort(new Cancelled({ message: 'the deadline came nearer' })));
    try {
      return await work(cut.signal);
    } catch (error) {
      if (signal.aborted || !cut.signal.aborted || !(error instanceof Cancelled)) throw error;
    } finally {
      unsubscribe();
      forget();
    }
  }
}
