import { reasonOf, throwIfAborted } from '#base/abort.ts';
import type { AppError } from '#base/errors.ts';
import type { RevisionLog } from './revision-log.ts';

/** The answer of work that will not be done. It fails its caller alone; a throw fails the whole transaction. */
export class Refused {
  readonly error: AppError;

  constructor(error: AppError) {
    this.error = error;
  }
}

interface Task {
  /** Runs in the transaction; the result answers the caller, after the transaction is durable. */
  run(): () => void;
  reject(error: unknown): void;
}

/**
 * Groups what arrives in one turn of the event loop into one transaction.
 *
 * `setImmediate` runs right after the turn's I/O callbacks, so a single write does not wait and a burst of requests is one transaction.
 */
export class CommitQueue {
  readonly #log: RevisionLog;
  readonly #onDurable: () => void;
  readonly #onLost: () => void;
  #tasks: Task[] = [];

  /**
   * @param onDurable called after a transaction that held, before its callers are answered
   * @param onLost called after a transaction that did not
   */
  constructor(log: RevisionLog, onDurable: () => void, onLost: () => void) {
    this.#log = log;
    this.#onDurable = onDurable;
    this.#onLost = onLost;
  }

  /** @returns what `work` returned in the next transaction, once that is durable */
  submit<T>(work: () => T | Refused, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      throwIfAborted(signal);
      if (this.#tasks.length === 0) setImmediate(() => this.flush());
      const run = () => {
        if (signal.aborted) return () => reject(reasonOf(signal));
        const answer = work();
        return () => (answer instanceof Refused ? reject(answer.error) : resolve(answer));
      };
      this.#tasks.push({ run, reject });
    });
  }

  /** Commits at once what is waiting. */
  flush(): void {
    const tasks = this.#tasks;
    if (tasks.length === 0) return;
    this.#tasks = [];
    let answers: readonly (() => void)[];
    try {
      answers = this.#log.atomically(() => tasks.map((task) => task.run()));
    } catch (error) {
      this.#onLost();
      for (const task of tasks) task.reject(error);
      return;
    }
    this.#onDurable();
    for (const answer of answers) answer();
  }
}
