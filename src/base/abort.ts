import type { Clock } from './clock.ts';
import { Cancelled, DeadlineExceeded } from './errors.ts';

/** @throws {Cancelled} or the `AppError` that the signal was aborted with */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** What a wait on an aborted signal throws. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof DeadlineExceeded || reason instanceof Cancelled) return reason;
  return new Cancelled({ message: reason instanceof Error ? reason.message : 'cancelled', cause: reason });
}

/** Calls `action` when the signal is aborted, at once if it is; the result takes the wish back. */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => undefined;
  }
  signal.addEventListener('abort', action, { once: true });
  return () => signal.removeEventListener('abort', action);
}

/**
 * Runs `work` under a signal that is aborted with the outer one or after `ms`.
 *
 * @param what names the work in the error message
 * @throws {DeadlineExceeded} when time ran out first; the work is left to notice its signal
 */
export async function withDeadline<T>(
  what: string,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const inner = new AbortController();
  // Made when it happens: a stack costs more than most work that is in time.
  const timer = clock.after(ms, () => inner.abort(new DeadlineExceeded({ message: `${what} took longer than ${ms} ms` })));
  const forget = onAbort(signal, () => inner.abort(reasonOf(signal)));
  let forgetLoss: () => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    forgetLoss = onAbort(inner.signal, () => reject(reasonOf(inner.signal)));
  });
  try {
    return await Promise.race([work(inner.signal), lost]);
  } finally {
    timer.cancel();
    forget();
    forgetLoss();
  }
}
