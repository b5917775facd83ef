import { Backoff } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import type { FilesPort } from '../ports/files.ts';
import type { FolderWatchPort } from '../ports/folder-watch.ts';
import type { PluginSocketsPort } from '../ports/plugin-sockets.ts';

/** Who looks after the plugins of one type: `CSIPlugin`, `DevicePlugin`. */
export interface PluginHandler {
  /** @returns what is wrong with it */
  validate(name: string, endpoint: string, versions: readonly string[]): string | undefined;
  /** @throws when it cannot be used; it is tried again later */
  register(name: string, endpoint: string, versions: readonly string[], signal: AbortSignal): Promise<void>;
  /** Its socket is gone, or another one. */
  deregister(name: string, endpoint: string): void;
}

export interface PluginRegistryDeps {
  readonly sockets: Pick<PluginSocketsPort, 'registration'>;
  readonly files: Pick<FilesPort, 'ensureDirectory' | 'list' | 'stat'>;
  readonly folderWatch: FolderWatchPort;
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** Whose sockets, at any depth, are plugins' that want to be known. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Registered {
  /** Of its socket: one that was made again is another plugin. */
  readonly madeAtMs: number;
  readonly name: string;
  readonly endpoint: string;
  readonly handler: PluginHandler;
}

/** Upstream's numbers. */
const retry = { baseMs: 500, maxMs: 122_000, forgetAfterMs: 3_600_000 };
/** A folder that is replaced is watched no more. */
const lookEveryMs = 60_000;

/** Gets to know plugins by the sockets that they put into a folder, and has them looked after by type. */
export class PluginRegistry {
  readonly #deps: PluginRegistryDeps;
  readonly #registered = new Map<string, Registered>();
  readonly #backoff: Backoff;
  readonly #changes = new Cell(0);
  #watched = new Map<string, () => void>();

  constructor(deps: PluginRegistryDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(retry, deps.clock);
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { files, directory, clock, logger } = this.#deps;
    await files.ensureDirectory(directory, 0o750, signal);
    try {
      while (!signal.aborted) {
        const seen = this.#changes.get();
        const failed = await this.#lookAtAll(signal).catch((error: unknown) => {
          if (!signal.aborted) logger.warn('the folder of plugins cannot be read', { directory, error: messageOf(error) });
          return retry.baseMs;
        });
        const timer = clock.after(failed ?? lookEveryMs, () => this.#wake());
        await waitFor(this.#changes, (now) => now !== seen, signal).catch(() => undefined); // the loop's condition sees the abort
        timer.cancel();
      }
    } finally {
      for (const end of this.#watched.values()) end();
    }
  }

  #wake(): void {
    this.#changes.set(this.#changes.get() + 1);
  }

  /** @returns after how long a plugin that failed is to be tried again */
  async #lookAtAll(signal: AbortSignal): Promise<number | undefined> {
    const found = await this.#sockets(signal);
    for (const [path, { name, endpoint, handler, madeAtMs }] of [...this.#registered]) {
      if (found.get(path) === madeAtMs) continue;
      this.#registered.delete(path);
      handler.deregister(name, endpoint);
    }
    const delays: number[] = [];
    await Promise.all(
      [...found].map(async ([path, madeAtMs]) => {
        if (this.#registered.has(path)) return;
        const delayMs = await this.#register(path, madeAtMs, signal);
        if (delayMs !== undefined) delays.push(delayMs);
      }),
    );
    return delays.length === 0 ? undefined : Math.min(...delays);
  }

  async #register(path: string, madeAtMs: number, signal: AbortSignal): Promise<number | undefined> {
    const { sockets, logger } = this.#deps;
    const connection = sockets.registration(path);
    try {
      const info = await connection.info(signal);
      const endpoint = info.endpoint === '' ? path : info.endpoint;
      const outcome = await this.#accept(path, { ...info, endpoint }, signal);
      await connection.tell(typeof outcome === 'string' ? outcome : '', signal);
      if (typeof outcome === 'string') throw new Error(outcome);
      this.#registered.set(path, { madeAtMs, name: info.name, endpoint, handler: outcome });
      this.#backoff.forget(path);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn('a plugin is not registered', { socket: path, error: messageOf(error) });
      return this.#backoff.advance(path);
    } finally {
      connection.close();
    }
  }

  /** @returns who looks after it, or what it is told */
  async #accept(
    path: string,
    {
      type,
      name,
      endpoint,
      supportedVersions,
    }: { readonly type: string; readonly name: string; readonly endpoint: string; readonly supportedVersions: readonly string[] },
    signal: AbortSignal,
  ): Promise<PluginHandler | string> {
    const handler = this.#deps.handlers.get(type);
    if (handler === undefined) return `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${path}`;
    const problem = handler.validate(name, endpoint, supportedVersions);
    if (problem !== undefined) return `plugin validation failed with err: ${problem}`;
    try {
      await handler.register(name, endpoint, supportedVersions, signal);
      return handler;
    } catch (error) {
      if (signal.aborted) throw error;
      return `RegisterPlugin error -- plugin registration failed with err: ${messageOf(error)}`;
    }
  }

  /** When each was made, by path. Every folder on the way is watched. */
  async #sockets(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { files, folderWatch, directory } = this.#deps;
    const found = new Map<string, number>();
    const watched = new Map<string, () => void>();
    const visit = async (folder: string): Promise<void> => {
      const before = this.#watched.get(folder);
      watched.set(folder, before ?? folderWatch.watch(folder, () => this.#wake())); // first: what comes after the look is told of
      for (const { name, kind } of await files.list(folder, signal)) {
        if (name.startsWith('.')) continue;
        const path = `${folder}/${name}`;
        if (kind === 'directory') await visit(path);
        const facts = kind === 'socket' ? await files.stat(path, signal) : undefined;
        if (facts !== undefined) found.set(path, facts.modifiedAtMs);
      }
    };
    await visit(directory);
    for (const [folder, end] of this.#watched) if (!watched.has(folder)) end();
    this.#watched = watched;
    return found;
  }
}
