import type { Clock } from '#base/clock.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { Reading } from '../ports/usage.ts';

/** What the runtime knows of its own files. */
export interface RuntimeFiles {
  /** Writable layers by container id. */
  readonly layers: ReadonlyMap<string, LayerUsage>;
  readonly images: RuntimeFilesystem | undefined;
  /** The same as `images` unless the runtime has them apart. */
  readonly containers: RuntimeFilesystem | undefined;
}

export interface LayerUsage {
  readonly atMs: number;
  readonly usedBytes: Reading;
  readonly inodesUsed: Reading;
}

export interface RuntimeFilesystem extends LayerUsage {
  readonly mountpoint: string;
}

type Runtime = Pick<RuntimePort, 'listContainerStats' | 'imageFsInfo'>;

/**
 * Asks the runtime, at most once in a while: it looks at its own files every ten seconds, and asks a process a container for the rest of
 * its answer.
 */
export class RuntimeFigures {
  readonly #runtime: Runtime;
  readonly #clock: Clock;
  readonly #layers: Kept<RuntimeFiles['layers']>;
  readonly #filesystems: Kept<Pick<RuntimeFiles, 'images' | 'containers'>>;
  readonly #end = new AbortController();

  constructor(runtime: Runtime, clock: Clock, maxAgeMs: number) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#layers = new Kept(clock, maxAgeMs);
    this.#filesystems = new Kept(clock, maxAgeMs);
  }

  /** @throws {Unavailable} when the runtime does not answer */
  layers(): Promise<RuntimeFiles['layers']> {
    return this.#layers.get(async () => {
      const stats = await this.#runtime.listContainerStats({}, this.#end.signal);
      return new Map(stats.map(({ attributes, writableLayer }) => [attributes?.id ?? '', this.#usage(writableLayer)]));
    });
  }

  /** @throws {Unavailable} when the runtime does not answer */
  filesystems(): Promise<Pick<RuntimeFiles, 'images' | 'containers'>> {
    return this.#filesystems.get(async () => {
      const { imageFilesystems, containerFilesystems } = await this.#runtime.imageFsInfo(this.#end.signal);
      const read = (one: (typeof imageFilesystems)[number] | undefined) =>
        one === undefined ? undefined : { ...this.#usage(one), mountpoint: one.fsId?.mountpoint ?? '' };
      const images = read(imageFilesystems[0]);
      return { images, containers: read(containerFilesystems[0]) ?? images };
    });
  }

  /** The questions that are open are given up. */
  close(): void {
    this.#end.abort();
  }

  #usage(given: { readonly timestamp: number; readonly usedBytes?: Value; readonly inodesUsed?: Value } | undefined): LayerUsage {
    const atMs = given === undefined || given.timestamp === 0 ? this.#clock.now() : given.timestamp / 1e6;
    return { atMs, usedBytes: given?.usedBytes?.value, inodesUsed: given?.inodesUsed?.value };
  }
}

type Value = { readonly value: number } | undefined;

/** One answer for all who ask within its age. A failure is nobody's answer but theirs who waited for it. */
class Kept<T> {
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  #last: { readonly atMs: number; readonly answer: Promise<T> } | undefined;

  constructor(clock: Clock, maxAgeMs: number) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  get(ask: () => Promise<T>): Promise<T> {
    if (this.#last !== undefined && this.#clock.now() - this.#last.atMs < this.#maxAgeMs) return this.#last.answer;
    const answer = ask();
    const last = { atMs: this.#clock.now(), answer };
    this.#last = last;
    answer.catch(() => {
      if (this.#last === last) this.#last = undefined;
    });
    return answer;
  }
}
