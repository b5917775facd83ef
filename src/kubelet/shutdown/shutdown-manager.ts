import type { Pod } from '#api/types/core-v1.ts';
import { onAbort } from '#base/abort.ts';
import { Cancelled, messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Cell } from '#base/watchable.ts';
import type { FilesPort } from '../ports/files.ts';
import type { LogindPort, LogindSession } from '../ports/logind.ts';
import { allowDelay } from './allow-delay.ts';
import { type EndPodsDeps, endPods } from './end-pods.ts';
import { allSeconds, groupPods, type ShutdownPeriod } from './periods.ts';
import type { ShutdownTimes } from './shutdown-times.ts';

export interface ShutdownManagerDeps extends EndPodsDeps {
  /** At least one. */
  readonly periods: readonly ShutdownPeriod[];
  readonly logind: () => Promise<LogindPort>;
  /** Those that hold something of the node. */
  readonly pods: () => readonly Pod[];
  /** Told whether the node goes down: no pod is let in then. */
  readonly isShuttingDown: Cell<boolean>;
  readonly tellNode: (message: string) => void;
  readonly times: ShutdownTimes;
  readonly files: FilesPort;
}

/** Between a connection that is lost and the next. Upstream's number. */
const reconnectMs = 1000;

/**
 * Holds up the shutdown of the host until its pods have ended in order:
 * a lock is held; when the shutdown is announced the pods end and the lock is given up; when it is called off the lock is taken again.
 */
export class ShutdownManager {
  readonly #deps: ShutdownManagerDeps;
  readonly #tasks: TaskGroup;
  #releaseLock: () => void = () => undefined;
  /** Present while pods are ended. */
  #ending: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;

  constructor(deps: ShutdownManagerDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup((what, error) => deps.logger.error('a part of the shutdown broke', { what, error: messageOf(error) }));
  }

  /** Until the signal is aborted. A host whose login manager cannot be reached at first is left alone. */
  async run(signal: AbortSignal): Promise<void> {
    const { times, logger, clock } = this.#deps;
    try {
      await times.recall(signal);
      let session = await this.#open(signal, 'a shutdown of this host will not wait for its pods');
      if (session === undefined) return;
      while (!signal.aborted) {
        if (session !== undefined) await this.#follow(session, signal);
        await clock.sleep(reconnectMs, signal);
        session = await this.#open(signal, 'shutdowns of this host are not heard of');
      }
    } catch (error) {
      if (!signal.aborted) logger.error('shutdowns of this host are watched no more', { error: messageOf(error) });
    } finally {
      this.#ending?.abort.abort();
      await this.#tasks.close();
      this.#releaseLock();
    }
  }

  /** @returns undefined when that failed */
  async #open(signal: AbortSignal, consequence: string): Promise<LogindSession | undefined> {
    const { logind, periods, logger } = this.#deps;
    let session: LogindSession | undefined;
    try {
      session = await (await logind()).connect(signal);
      await allowDelay(session, allSeconds(periods), this.#deps, signal);
      await this.#lock(session, signal);
      return session;
    } catch (error) {
      session?.close();
      if (!signal.aborted) logger.warn(consequence, { error: messageOf(error) });
      return undefined;
    }
  }

  async #follow(session: LogindSession, signal: AbortSignal): Promise<void> {
    try {
      for await (const isShuttingDown of session.announcements(signal)) {
        if (isShuttingDown) this.#begin(signal);
        else await this.#callOff(session, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#deps.logger.warn('the login manager is lost', { error: messageOf(error) });
    } finally {
      session.close();
    }
  }

  #begin(signal: AbortSignal): void {
    const { tellNode, isShuttingDown } = this.#deps;
    tellNode('Shutdown manager detected shutdown event');
    isShuttingDown.set(true);
    if (this.#ending !== undefined) return;
    const abort = new AbortController();
    const forget = onAbort(signal, () => abort.abort(signal.reason));
    const done = this.#endAll(abort.signal).finally(() => {
      forget();
      this.#ending = undefined;
    });
    this.#ending = { abort, done };
    this.#tasks.run('end of all pods', () => done);
  }

  async #callOff(session: LogindSession, signal: AbortSignal): Promise<void> {
    const { tellNode, isShuttingDown } = this.#deps;
    tellNode('Shutdown manager detected shutdown cancellation');
    isShuttingDown.set(false);
    this.#ending?.abort.abort(new Cancelled({ message: 'the shutdown is called off' }));
    await this.#ending?.done;
    await this.#lock(session, signal);
  }

  async #endAll(signal: AbortSignal): Promise<void> {
    const { periods, pods, times, logger } = this.#deps;
    try {
      await times.began(signal);
      await endPods(groupPods(pods(), periods), this.#deps, signal);
    } catch (error) {
      if (!(error instanceof Cancelled)) logger.error('the pods are not ended for the shutdown', { error: messageOf(error) });
    } finally {
      if (!signal.aborted) await times.ended(signal);
      this.#releaseLock();
      this.#releaseLock = () => undefined;
    }
  }

  /** The new one first: there is no moment without. */
  async #lock(session: LogindSession, signal: AbortSignal): Promise<void> {
    const release = await session.inhibit(signal);
    this.#releaseLock();
    this.#releaseLock = release;
  }
}
