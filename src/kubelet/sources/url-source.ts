import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, Unavailable } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { ManifestsPort } from '../ports/manifests.ts';
import { parseManifest } from './manifest-text.ts';
import { staticPods } from './static-pod.ts';

export interface UrlSourceDeps {
  readonly manifests: ManifestsPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly url: string;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly nodeName: string;
  readonly everyMs: number;
}

/** Upstream's number. */
const answerWithinMs = 10_000;

/** The pods of a manifest that a web server has. What it does not give is no change: only an answer is. */
export class UrlSource {
  readonly #deps: UrlSourceDeps;
  #last: string | undefined;

  constructor(deps: UrlSourceDeps) {
    this.#deps = deps;
  }

  /** Hands over the whole set when it has changed, until the signal is aborted. */
  async run(deliver: (pods: readonly Pod[]) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, url, everyMs } = this.#deps;
    while (!signal.aborted) {
      try {
        const pods = await this.#look(signal);
        if (pods !== undefined) deliver(pods);
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof AppError)) throw error;
        logger.warn('a manifest cannot be read', { url, code: error.code, error: error.message });
      }
      await clock.sleep(everyMs, signal).catch(() => undefined); // the loop's condition sees the abort
    }
  }

  /** @returns nothing when there is nothing new */
  async #look(signal: AbortSignal): Promise<readonly Pod[] | undefined> {
    const { manifests, clock, url, headers, nodeName } = this.#deps;
    const { status, body } = await withDeadline(`GET ${url}`, answerWithinMs, clock, signal, (inner) => manifests.get(url, headers, inner));
    if (status !== 200) throw new Unavailable({ message: `${url}: HTTP ${status}` });
    if (body === this.#last) return undefined;
    if (body === '') {
      this.#last = body;
      return [];
    }
    const pods = staticPods(await parseManifest(body), { kind: 'http', path: url, nodeName });
    this.#last = body;
    return pods;
  }
}
