import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { PullProgress } from '#startup/pod-startup.ts';
import type { Download, DownloadsPort } from '../../ports/downloads.ts';

/** Takes what is known of a pull for one of the pods that wait for it; `undefined` when the pull has ended. */
export type PullListener = (podUid: string, image: string, progress: PullProgress | undefined) => void;

export interface FollowDownloadsDeps {
  readonly source: DownloadsPort;
  readonly tell: PullListener;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface RunningPull {
  readonly image: string;
  readonly pods: ReadonlySet<string>;
  readonly startedAtMs: number;
  readonly parts: Map<string, Download>;
  changedAtMs: number;
  readonly told: Set<string>;
}

/**
 * containerd has no event for bytes that come, so it has to be asked; not more often than a person reads, not for a pull that is over before
 * that, and not at all while nothing is pulled.
 */
const everyMs = 1000;

/** The loop ends with the last pull, whose own end is sure. */
const uncut = new AbortController().signal;

/** Follows the downloads of the pulls that run. */
export class DownloadFollower {
  readonly #deps: FollowDownloadsDeps;
  readonly #running = new Set<RunningPull>();
  #loop: Promise<void> | undefined;
  #isSilent = false;

  constructor(deps: FollowDownloadsDeps) {
    this.#deps = deps;
  }

  /** @param pods those that wait for it, as they come and go @returns what is called when the pull has ended */
  follow(image: string, pods: ReadonlySet<string>): () => void {
    const nowMs = this.#deps.clock.now();
    const pull: RunningPull = { image, pods, startedAtMs: nowMs, changedAtMs: nowMs, parts: new Map(), told: new Set() };
    this.#running.add(pull);
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
    });
    return () => {
      this.#running.delete(pull);
      for (const uid of pull.told) this.#deps.tell(uid, image, undefined);
    };
  }

  async #run(): Promise<void> {
    const { clock, source, logger } = this.#deps;
    while (!this.#isSilent) {
      try {
        await clock.sleep(everyMs, uncut);
        if (this.#running.size === 0) return;
        const downloads = await source.downloads(uncut);
        if (downloads === undefined) this.#isSilent = true;
        else for (const pull of this.#running) this.#see(pull, downloads);
      } catch (error) {
        logger.debug('the runtime does not tell what it downloads', { error: messageOf(error) });
      }
    }
  }

  #see(pull: RunningPull, downloads: readonly Download[]): void {
    const present = new Map(downloads.map((download) => [download.ref, download]));
    for (const download of downloads) {
      const known = pull.parts.get(download.ref);
      // One that nobody has written to since is left over from a pull that was given up.
      if (known === undefined && download.updatedAtMs < pull.startedAtMs) continue;
      if (known === undefined || known.bytes !== download.bytes) pull.changedAtMs = this.#deps.clock.now();
      pull.parts.set(download.ref, download);
    }
    for (const [ref, part] of pull.parts) {
      if (present.has(ref) || part.bytes === part.totalBytes) continue;
      pull.parts.set(ref, { ...part, bytes: part.totalBytes }); // it is complete, and no download any more
      pull.changedAtMs = this.#deps.clock.now();
    }
    const layers = [...pull.parts.values()].filter(({ ref }) => ref.startsWith('layer-'));
    if (layers.length === 0) return;
    const progress: PullProgress = {
      image: pull.image,
      bytes: sum(layers.map(({ bytes }) => bytes)),
      totalBytes: sum(layers.map(({ totalBytes }) => totalBytes)),
      layers: layers.length,
      layersDone: layers.filter(({ ref }) => !present.has(ref)).length,
      changedAtMs: pull.changedAtMs,
      otherPulls: this.#running.size - 1,
    };
    for (const uid of pull.pods) {
      pull.told.add(uid);
      this.#deps.tell(uid, pull.image, progress);
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
