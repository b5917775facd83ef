import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { LogFile, LogFilesPort } from '../../ports/log-files.ts';

/** What a reader that follows needs to know of the container: the file itself never says that it is complete. */
export interface ContainerLife {
  isRunning(signal: AbortSignal): Promise<boolean>;
  /** Calls the listener when `isRunning` may have changed; the answer unsubscribes. */
  subscribe(listener: () => void): () => void;
}

type News = 'written' | 'replaced' | 'life';

/** Upstream looks again this often whatever the file system says. */
const lookAgainMs = 1_000;
/** Each keeps the space of its file on the disk. */
const mostWaiting = 5;

/** Tells a reader what happens to a log, and opens each file that takes its name: a reader that is slow finds those of the meantime too. */
export class LogFollower {
  readonly #path: string;
  readonly #files: LogFilesPort;
  readonly #clock: Clock;
  readonly #ends: readonly (() => void)[];
  readonly #signal: AbortSignal;
  readonly #waiting: LogFile[] = [];
  /** Identity of the last file that is known. */
  #newest: string;
  #opening: Promise<void> = Promise.resolve();
  #failure: unknown;
  #news = new Set<News>(['life']); // it may have ended before the watch began
  #wake: (() => void) | undefined;

  constructor(current: LogFile, path: string, files: LogFilesPort, life: ContainerLife, clock: Clock, signal: AbortSignal) {
    this.#newest = current.identity;
    this.#path = path;
    this.#files = files;
    this.#clock = clock;
    this.#signal = signal;
    const told = (what: 'written' | 'replaced') => {
      if (what === 'replaced') void this.look();
      else this.#tell(what);
    };
    this.#ends = [files.watch(path, told), life.subscribe(() => this.#tell('life')), onAbort(signal, () => this.#wake?.())];
  }

  /** Whether another file has the name, or had it meanwhile. */
  get hasNext(): boolean {
    return this.#waiting.length > 0;
  }

  /** The file that took the name after the one before it; the caller closes it. */
  takeNext(): LogFile | undefined {
    return this.#waiting.shift();
  }

  /** Opens what has the name now, unless it is known. Never fails: what goes wrong is told by `news`. */
  look(): Promise<void> {
    this.#opening = this.#opening.then(() => this.#open());
    return this.#opening;
  }

  /** Resolves when something happened. @throws when the log cannot be opened */
  async news(): Promise<ReadonlySet<News>> {
    const later = this.#clock.after(lookAgainMs, () => {
      void this.look();
      this.#tell('life');
    });
    if (this.#news.size === 0 && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    later.cancel();
    if (this.#failure !== undefined) throw this.#failure;
    const told = this.#news;
    this.#news = new Set();
    return told;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#opening;
    for (const file of this.#waiting.splice(0)) await file.close();
  }

  async #open(): Promise<void> {
    try {
      const file = await this.#files.open(this.#path, this.#signal);
      if (file === undefined) return; // the runtime has not made the new one yet
      if (file.identity === this.#newest) return await file.close();
      this.#newest = file.identity;
      this.#waiting.push(file);
      if (this.#waiting.length > mostWaiting) await this.#waiting.shift()?.close();
    } catch (error) {
      this.#failure = error;
    }
    this.#tell('replaced');
  }

  #tell(what: News): void {
    this.#news.add(what);
    this.#wake?.();
  }
}
