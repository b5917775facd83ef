import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { RuntimeEvent, RuntimePort } from '../ports/runtime.ts';
import type { RuntimeCache } from './runtime-cache.ts';

export interface FollowSettings {
  /** The net under the events. */
  readonly relistMs: number;
  /** The only source when the runtime offers no events, and while it does not answer. */
  readonly relistWithoutEventsMs: number;
  /** After an exit event the runtime's own status lags: it is read this often, */
  readonly exitReadMs: number;
  /** and given up after so long. */
  readonly exitReadMaxMs: number;
  /** A broken event stream is opened again after so long. */
  readonly reconnectMs: number;
}

export const defaultFollowSettings: FollowSettings = {
  relistMs: 30_000,
  relistWithoutEventsMs: 1000,
  exitReadMs: 5,
  exitReadMaxMs: 2000,
  reconnectMs: 100,
};

export interface FollowDeps {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: FollowSettings;
}

/** As shares of the longest lag. */
const looksAfterConnecting = [0.03, 0.1, 0.5, 1];

/** Keeps the cache up to date by the runtime's events until the signal is aborted; a runtime that goes away is waited for. */
export async function followRuntime(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const tasks = new TaskGroup((what, error) => {
    if (!signal.aborted) deps.logger.warn('runtime state could not be read', { what, error: messageOf(error) });
  });
  const follower = new Follower(deps, tasks);
  tasks.run('relist', () => follower.relistNowAndThen(signal));
  try {
    await follower.follow(signal);
  } finally {
    await tasks.close();
  }
}

class Follower {
  readonly #deps: FollowDeps;
  readonly #tasks: TaskGroup;
  readonly #settling = new Set<string>();
  #hasEvents = true;

  constructor(deps: FollowDeps, tasks: TaskGroup) {
    this.#deps = deps;
    this.#tasks = tasks;
  }

  async relistNowAndThen(signal: AbortSignal): Promise<void> {
    const { clock, cache, settings } = this.#deps;
    await this.#relist(signal);
    while (!signal.aborted) {
      const periodMs = this.#hasEvents && cache.hasSynced ? settings.relistMs : settings.relistWithoutEventsMs;
      await clock.sleep(periodMs, signal).catch(() => undefined); // the loop's condition sees the abort
      await this.#relist(signal);
    }
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { runtime, clock, logger, settings } = this.#deps;
    while (!signal.aborted) {
      try {
        for await (const event of runtime.events(signal)) {
          if (event.kind === 'connected') await this.#lookAfterConnecting(signal);
          else this.#tasks.run(event.kind, () => this.#onEvent(event, signal));
        }
      } catch (error) {
        if (error instanceof AppError && error.code === 'UNSUPPORTED') {
          this.#hasEvents = false;
          return new Promise((resolve) => onAbort(signal, resolve));
        }
        if (!signal.aborted) logger.warn('runtime events broke off', { error: messageOf(error) });
      }
      await clock.sleep(settings.reconnectMs, signal).catch(() => undefined); // the loop's condition sees the abort
    }
  }

  /**
   * What ended just before the stream began may still show as running, and its event is lost: so after the first look there are some more,
   * until the lag is over for sure.
   */
  async #lookAfterConnecting(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#deps;
    await this.#relist(signal);
    this.#tasks.run('relist after connecting', async () => {
      let passedMs = 0;
      for (const share of looksAfterConnecting) {
        const atMs = share * settings.exitReadMaxMs;
        await clock.sleep(atMs - passedMs, signal);
        passedMs = atMs;
        await this.#relist(signal);
      }
    });
  }

  async #relist(signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await this.#deps.cache.relist(signal);
    } catch (error) {
      if (!signal.aborted) this.#deps.logger.warn('runtime cannot be listed', { error: messageOf(error) });
    }
  }

  async #onEvent(event: Exclude<RuntimeEvent, { kind: 'connected' }>, signal: AbortSignal): Promise<void> {
    const { cache } = this.#deps;
    switch (event.kind) {
      case 'exited':
        return this.#settleExit(event.id, signal);
      case 'deleted': // of its task or of itself: what its status says
        if (cache.recordOf(event.id) !== undefined) await cache.reread(event.id, signal);
        return;
      case 'created': // what we make ourselves is read by who made it, what others make comes with the next list
      case 'started':
      case 'oom': // the exit that follows tells
      case 'image':
        return;
    }
  }

  /** The exit has happened, but the runtime's status still shows it running for some 40 ms, and no later event tells when that is over. */
  async #settleExit(id: string, signal: AbortSignal): Promise<void> {
    if (this.#settling.has(id)) return;
    const { clock, settings, cache, logger } = this.#deps;
    this.#settling.add(id);
    try {
      const untilMs = clock.monotonic() + settings.exitReadMaxMs;
      while (await cache.reread(id, signal)) {
        if (clock.monotonic() >= untilMs) return logger.warn('an exit did not show in the runtime', { id });
        await clock.sleep(settings.exitReadMs, signal);
      }
    } finally {
      this.#settling.delete(id);
    }
  }
}
