import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { DirectoryUsage, UsagePort } from '../ports/usage.ts';

export interface DirectorySizesDeps {
  readonly usage: Pick<UsagePort, 'directory'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each walk. */
  readonly walked?: ((tookMs: number) => void) | undefined;
}

interface Known {
  readonly atMs: number;
  readonly size: DirectoryUsage | undefined;
}

/** Walks that go on at once, whoever asks. */
const walksAtOnce = 2;
/** So long somebody waits for a walk; a directory of a million files takes longer, and its older figure is told meanwhile. */
const patienceMs = 2000;

/** Sizes of directories, found out when somebody asks and kept for a while: a walk costs a call a file. */
export class DirectorySizes implements AsyncDisposable {
  readonly #deps: DirectorySizesDeps;
  readonly #known = new Map<string, Known>();
  readonly #walks = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #tasks: TaskGroup;
  #running = 0;

  constructor(deps: DirectorySizesDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup((path, error) => deps.logger.warn('a directory could not be measured', { path, error: messageOf(error) }));
  }

  /** @returns undefined for what is not there, or not known within two seconds */
  async of(path: string, maxAgeMs: number): Promise<DirectoryUsage | undefined> {
    const { clock } = this.#deps;
    const known = this.#known.get(path);
    if (known !== undefined && clock.now() - known.atMs < maxAgeMs) return known.size;
    const walk = this.#walks.get(path) ?? this.#walk(path);
    await new Promise<void>((resolve) => {
      const timer = clock.after(patienceMs, resolve);
      void walk.then(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.#known.get(path)?.size;
  }

  /** Forgets all others. */
  keep(paths: ReadonlySet<string>): void {
    for (const path of this.#known.keys()) if (!paths.has(path)) this.#known.delete(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const start of this.#waiting.splice(0)) start();
    await this.#tasks.close();
  }

  /** @returns resolves when the walk ended, whatever came of it */
  #walk(path: string): Promise<void> {
    const walk = new Promise<void>((resolve) => {
      this.#tasks.run(path, async (signal) => {
        try {
          await this.#turn();
          const startedAt = this.#deps.clock.monotonic();
          const size = await this.#deps.usage.directory(path, signal);
          this.#deps.walked?.(this.#deps.clock.monotonic() - startedAt);
          this.#known.set(path, { atMs: this.#deps.clock.now(), size });
        } finally {
          this.#passTurn();
          this.#walks.delete(path);
          resolve();
        }
      });
    });
    this.#walks.set(path, walk);
    return walk;
  }

  async #turn(): Promise<void> {
    if (this.#running >= walksAtOnce) return await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
  }

  #passTurn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
