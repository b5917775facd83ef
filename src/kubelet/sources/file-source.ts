import type { Pod } from '#api/types/core-v1.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../ports/files.ts';
import type { FolderWatchPort } from '../ports/folder-watch.ts';
import { parseManifest } from './manifest-text.ts';
import { staticPod } from './static-pod.ts';

export interface FileSourceDeps {
  readonly files: Pick<FilesPort, 'stat' | 'list' | 'read'>;
  readonly folderWatch: FolderWatchPort;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A folder of manifests, or one manifest. */
  readonly path: string;
  readonly nodeName: string;
  /** All is read again this often, whatever was heard. */
  readonly everyMs: number;
}

/** Larger files are none of pods. */
const maxManifestBytes = 10 * 1024 * 1024;
/** Whoever writes a file does it in several strokes. */
const quietMs = 50;
/** A path that is not there yet is looked for again after so long, and then more and more seldom. */
const firstLookMs = 1000;
const lastLookMs = 20_000;

/** The pods of the manifests in a folder of the node. */
export class FileSource {
  readonly #deps: FileSourceDeps;
  /** What each file held when it could be read last. */
  #good: ReadonlyMap<string, Pod> = new Map();

  constructor(deps: FileSourceDeps) {
    this.#deps = deps;
  }

  /** Hands over the whole set, at first and after each change, until the signal is aborted. */
  async run(deliver: (pods: readonly Pod[]) => void, signal: AbortSignal): Promise<void> {
    let lookMs = firstLookMs;
    let isOnChange = false;
    while (!signal.aborted) {
      // Anew each time: the path itself may have been replaced, and what changes while it is read is heard of.
      const heard = this.#listen();
      try {
        deliver(await this.#read(isOnChange, signal));
      } catch (error) {
        if (!signal.aborted) this.#warn(this.#deps.path, error);
      }
      lookMs = heard === undefined ? Math.min(lookMs * 2, lastLookMs) : firstLookMs;
      isOnChange = await this.#wait(heard, heard === undefined ? Math.min(lookMs / 2, this.#deps.everyMs) : this.#deps.everyMs, signal);
      heard?.end();
    }
  }

  #listen(): Heard | undefined {
    try {
      return new Heard(this.#deps.folderWatch, this.#deps.path);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return undefined;
    }
  }

  /** @returns whether a change ended it */
  async #wait(heard: Heard | undefined, waitMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#deps;
    const isChange = await new Promise<boolean>((resolve) => {
      const end = (isChange: boolean) => {
        timer.cancel();
        forget();
        resolve(isChange);
      };
      const timer = clock.after(waitMs, () => end(false));
      const forget = onAbort(signal, () => queueMicrotask(() => end(false)));
      heard?.onChange(() => end(true));
    });
    if (isChange) await clock.sleep(quietMs, signal).catch(() => undefined); // the loop's condition sees the abort
    return isChange;
  }

  /** @param keepsBroken a file that cannot be read now may be half written: its pod stays until the next full look */
  async #read(keepsBroken: boolean, signal: AbortSignal): Promise<readonly Pod[]> {
    const { files, path } = this.#deps;
    const facts = await files.stat(path, signal);
    const entries =
      facts?.kind === 'file'
        ? [path]
        : (await files.list(path, signal)).flatMap(({ name, kind }) => (isManifest(name, kind) ? `${path}/${name}` : []));
    const good = new Map<string, Pod>();
    for (const file of entries.sort()) {
      const pod = await this.#readFile(file, keepsBroken, signal);
      if (pod !== undefined) good.set(file, pod);
    }
    this.#good = good;
    return [...good.values()];
  }

  async #readFile(file: string, keepsBroken: boolean, signal: AbortSignal): Promise<Pod | undefined> {
    const { files, nodeName } = this.#deps;
    try {
      const facts = await files.stat(file, signal);
      if (facts?.kind === 'directory' || (facts?.sizeBytes ?? 0) > maxManifestBytes) return undefined;
      const content = await files.read(file, signal);
      if (content === undefined) return undefined;
      return staticPod(await parseManifest(new TextDecoder().decode(content)), { kind: 'file', path: file, nodeName });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#warn(file, error);
      return keepsBroken ? this.#good.get(file) : undefined;
    }
  }

  #warn(file: string, error: unknown): void {
    if (!(error instanceof AppError)) throw error;
    this.#deps.logger.warn('a manifest cannot be read', { file, code: error.code, error: error.message });
  }
}

/** Remembers a change that came before anybody waited for it. */
class Heard {
  readonly end: () => void;
  #isChanged = false;
  #tell: (() => void) | undefined;

  constructor(watch: FolderWatchPort, path: string) {
    this.end = watch.watch(path, () => {
      this.#isChanged = true;
      this.#tell?.();
    });
  }

  onChange(tell: () => void): void {
    this.#tell = tell;
    if (this.#isChanged) tell();
  }
}

function isManifest(name: string, kind: string): boolean {
  return !name.startsWith('.') && (kind === 'file' || kind === 'symlink');
}
