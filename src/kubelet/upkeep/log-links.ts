import type { FilesPort } from '../ports/files.ts';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { Serial } from '../volumes/serial.ts';
import { type PodQueueDeps, workOnChangedPods } from './pod-queue.ts';

export interface LogLinksDeps extends PodQueueDeps {
  readonly files: FilesPort;
  /** Where the links are. Others may have links and files there too. */
  readonly directory: string;
  /** Every log that they lead to is below it. */
  readonly podLogs: string;
}

const directoryMode = 0o755;
/** Of a file's name. Source: ext4. */
const longestName = 255;
const ending = '.log';

/** Upstream's name for agents that read what pod and container a log is of from it: `<pod>_<namespace>_<container>-<id>.log`. */
export function logLinkName(pod: Pick<PodRuntimeState, 'namespace' | 'name'>, { name, id }: Pick<ContainerRecord, 'name' | 'id'>): string {
  return `${`${pod.name}_${pod.namespace}_${name}-${id}`.slice(0, longestName - ending.length)}${ending}`;
}

/** One link for each container that was started, as long as the runtime has the container. */
export class LogLinks {
  readonly #deps: LogLinksDeps;
  /** Names of the links that are there, by pod. */
  readonly #made = new Map<string, ReadonlySet<string>>();
  readonly #serial = new Serial();

  constructor(deps: LogLinksDeps) {
    this.#deps = deps;
  }

  /** Makes and removes links as containers come and go. */
  async follow(signal: AbortSignal): Promise<void> {
    const work = {
      name: 'log links',
      isNeeded: (uid: string) => !isSame(this.#made.get(uid), this.#wantedOf(uid)),
      run: (uid: string, inner: AbortSignal) => this.#serial.run(() => this.#update(uid, inner)),
    };
    await workOnChangedPods(work, this.#deps, signal);
  }

  /** Brings all links in order; those that lead nowhere and those of containers that nobody knows go. What is not ours is left alone. */
  lookAtAll(signal: AbortSignal): Promise<void> {
    return this.#serial.run(() => this.#lookAtAll(signal));
  }

  async #lookAtAll(signal: AbortSignal): Promise<void> {
    const { cache, files, directory, podLogs } = this.#deps;
    await files.ensureDirectory(directory, directoryMode, signal);
    const entries = await files.list(directory, signal);
    const pods = cache.all();
    const wanted = new Set(pods.flatMap(({ uid }) => [...this.#wantedOf(uid).keys()]));
    const present = new Set<string>();
    for (const { name, kind } of entries) {
      if (kind !== 'symlink') continue;
      const target = await files.readLink(`${directory}/${name}`, signal);
      if (target === undefined || !target.startsWith(`${podLogs}/`)) continue;
      const isAlive = wanted.has(name) && (await files.stat(target, signal)) !== undefined;
      if (isAlive) present.add(name);
      else await files.removeTree(`${directory}/${name}`, signal);
    }
    this.#made.clear();
    for (const { uid } of pods) {
      this.#made.set(uid, new Set([...this.#wantedOf(uid).keys()].filter((name) => present.has(name))));
      await this.#update(uid, signal);
    }
  }

  async #update(uid: string, signal: AbortSignal): Promise<void> {
    const { files, directory } = this.#deps;
    const wanted = this.#wantedOf(uid);
    const made = new Set(this.#made.get(uid));
    for (const name of made) {
      if (wanted.has(name)) continue;
      await files.removeTree(`${directory}/${name}`, signal);
      made.delete(name);
    }
    for (const [name, target] of wanted) {
      if (made.has(name) || (await files.stat(target, signal)) === undefined) continue; // not every runtime writes one
      await files.link(target, `${directory}/${name}`, signal);
      made.add(name);
    }
    if (made.size === 0) this.#made.delete(uid);
    else this.#made.set(uid, made);
  }

  /** Link to target. */
  #wantedOf(uid: string): ReadonlyMap<string, string> {
    const pod = this.#deps.cache.get(uid);
    const prefix = `${this.#deps.podLogs}/`;
    const started = (pod?.containers ?? []).filter(({ startedAtMs, logPath }) => startedAtMs > 0 && logPath.startsWith(prefix));
    return new Map(pod === undefined ? [] : started.map((container) => [logLinkName(pod, container), container.logPath]));
  }
}

function isSame(made: ReadonlySet<string> = new Set(), wanted: ReadonlyMap<string, string>): boolean {
  return made.size === wanted.size && [...wanted.keys()].every((name) => made.has(name));
}
