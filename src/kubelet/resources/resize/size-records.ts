import type { Pod } from '#api/types/core-v1.ts';
import { type KubeletRoots, podDirectory } from '../../paths.ts';
import type { FilesPort } from '../../ports/files.ts';
import { type ContainerRecord, newestOf, type PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import { type PodSizes, type Size, sizeOf, sizesOf } from './sizes.ts';

/** What is known of a pod that was resized; of another nothing has to be: it has what its spec says. */
interface SizeRecord {
  readonly allocated: PodSizes;
  /** By the runtime's id of the container: what it was given since it was made. */
  readonly actual: Readonly<Record<string, Size>>;
}

/**
 * What pods were given. A container carries what it was made with in an annotation; only a pod that was resized has a file, in its own folder,
 * so that a kubelet that comes back does not take the wish for the deed.
 */
export class SizeRecords {
  readonly #records = new Map<string, SizeRecord>();
  readonly #files: Pick<FilesPort, 'read' | 'write'>;
  readonly #roots: KubeletRoots;

  constructor(files: Pick<FilesPort, 'read' | 'write'>, roots: KubeletRoots) {
    this.#files = files;
    this.#roots = roots;
  }

  has(podUid: string): boolean {
    return this.#records.has(podUid);
  }

  /** What a pod that runs since before this kubelet has been given. */
  async recall(pod: Pod, observed: PodRuntimeState, signal: AbortSignal): Promise<PodSizes> {
    const { uid } = pod.metadata;
    const text = await this.#files.read(this.#path(uid), signal);
    const record = text === undefined ? undefined : parseRecord(new TextDecoder().decode(text));
    if (record !== undefined) {
      this.#records.set(uid, record);
      return record.allocated;
    }
    const wished = sizesOf(pod);
    const containers = Object.entries(wished.containers).map(([name, size]) => [name, newestOf(observed, name)?.size ?? size] as const);
    return { ...wished, containers: Object.fromEntries(containers) };
  }

  /** @param isStarted a pod that has no containers yet gets its sizes with them, and has no folder to remember others in */
  async allocate(podUid: string, allocated: PodSizes, isStarted: boolean, signal: AbortSignal): Promise<void> {
    if (isStarted) await this.#keep(podUid, { allocated, actual: this.#records.get(podUid)?.actual ?? {} }, signal);
  }

  async given(podUid: string, containerId: string, size: Size, signal: AbortSignal): Promise<void> {
    const record = this.#records.get(podUid);
    if (record !== undefined) await this.#keep(podUid, { ...record, actual: { ...record.actual, [containerId]: size } }, signal);
  }

  /** What the container has now; `undefined`: what its pod was given. */
  actualOf(podUid: string, container: Pick<ContainerRecord, 'id' | 'size'>): Size | undefined {
    return this.#records.get(podUid)?.actual[container.id] ?? container.size;
  }

  /** The same state; the sizes of its containers are those that they have now. */
  observed(state: PodRuntimeState): PodRuntimeState {
    const actual = this.#records.get(state.uid)?.actual;
    if (actual === undefined) return state;
    return { ...state, containers: state.containers.map((container) => ({ ...container, size: actual[container.id] ?? container.size })) };
  }

  forget(podUid: string): void {
    this.#records.delete(podUid);
  }

  async #keep(podUid: string, record: SizeRecord, signal: AbortSignal): Promise<void> {
    await this.#files.write(this.#path(podUid), JSON.stringify(record), fileMode, signal);
    this.#records.set(podUid, record);
  }

  #path(podUid: string): string {
    return `${podDirectory(this.#roots, podUid)}/sizes.json`;
  }
}

const fileMode = 0o600;

/** @returns undefined for what was not written by us: then the annotations count */
function parseRecord(text: string): SizeRecord | undefined {
  try {
    const { allocated, actual } = JSON.parse(text) as SizeRecord; // our own file, written whole
    const sizes = (of: Readonly<Record<string, Size>>) => Object.fromEntries(Object.entries(of).map(([name, size]) => [name, sizeOf(size)]));
    return {
      allocated: { containers: sizes(allocated.containers), pod: allocated.pod === undefined ? undefined : sizeOf(allocated.pod) },
      actual: sizes(actual),
    };
  } catch {
    return undefined;
  }
}
