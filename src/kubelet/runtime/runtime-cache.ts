import type { Clock } from '#base/clock.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { lastWords } from './last-words.ts';
import {
  type ContainerRecord,
  containerRecord,
  emptyState,
  isListedAs,
  isRunning,
  type PodRuntimeState,
  podOf,
  type SandboxRecord,
  sandboxRecord,
  withContainer,
  without,
  withSandbox,
} from './pod-runtime-state.ts';

export interface RuntimeCacheDeps {
  readonly runtime: RuntimePort;
  readonly files: FilesPort;
  readonly clock: Clock;
  /** Told of each look at everything, with how long it took. */
  readonly relisted?: (tookMs: number) => void;
}

type Listener = (podUid: string) => void;

/** What the kubelet does to a container that is not for others to see: it is put in the place of a running one; its start hook is not over. */
export type Hold = 'replacing' | 'starting';

/** What was made within this time before a list may be missing in it. */
const listRaceMs = 1000;

/** All pods as the runtime has them. `followRuntime` keeps it up to date. */
export class RuntimeCache {
  readonly #deps: RuntimeCacheDeps;
  readonly #pods = new Map<string, PodRuntimeState>();
  /** Id of a sandbox or container to its pod. */
  readonly #owners = new Map<string, string>();
  readonly #listeners = new Set<Listener>();
  readonly #synced = new Cell(false);
  #listedAtMs: number | undefined;
  /** By pod and name. */
  readonly #holds = new Map<string, Map<string, Hold>>();

  constructor(deps: RuntimeCacheDeps) {
    this.#deps = deps;
  }

  /** Resolves when everything was read once. */
  async synced(signal: AbortSignal): Promise<void> {
    await waitFor(this.#synced, (synced) => synced, signal);
  }

  /** Monotonic; `undefined` before everything was read once. */
  get listedAtMs(): number | undefined {
    return this.#listedAtMs;
  }

  get hasSynced(): boolean {
    return this.#synced.get();
  }

  get(podUid: string): PodRuntimeState | undefined {
    return this.#pods.get(podUid);
  }

  all(): readonly PodRuntimeState[] {
    return [...this.#pods.values()];
  }

  /** Pod of a sandbox or container. */
  ownerOf(id: string): string | undefined {
    return this.#owners.get(id);
  }

  /** Until it is released, what is told of the container is what was told before. */
  hold(podUid: string, container: string, hold: Hold): void {
    const holds = this.#holds.get(podUid) ?? new Map<string, Hold>();
    this.#holds.set(podUid, holds.set(container, hold));
  }

  /** @param container all of the pod unless it is named */
  release(podUid: string, container?: string): void {
    const holds = this.#holds.get(podUid);
    if (holds === undefined || (container !== undefined && !holds.delete(container))) return;
    if (container === undefined || holds.size === 0) this.#holds.delete(podUid);
    this.#tell(podUid);
  }

  holdOf(podUid: string, container: string): Hold | undefined {
    return this.#holds.get(podUid)?.get(container);
  }

  /** Called after each change of a pod; the result unsubscribes. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async refreshContainer(id: string, signal: AbortSignal): Promise<ContainerRecord | undefined> {
    const status = await this.#deps.runtime.containerStatus(id, signal);
    if (status === undefined) {
      this.#forget(id);
      return undefined;
    }
    const pod = podOf(status.labels);
    if (pod === undefined) return undefined;
    const ended = status.finishedAt > 0;
    const record = containerRecord(status, ended ? await lastWords(status, this.#deps.files, signal) : '');
    return this.#putContainer(pod, record);
  }

  async refreshSandbox(id: string, signal: AbortSignal): Promise<SandboxRecord | undefined> {
    const status = await this.#deps.runtime.podSandboxStatus(id, signal);
    if (status === undefined) {
      this.#forget(id);
      return undefined;
    }
    const pod = podOf(status.labels);
    if (pod === undefined) return undefined;
    const record = sandboxRecord(status);
    const before = this.#pods.get(pod.uid) ?? emptyState(pod);
    const known = before.sandboxes.find((sandbox) => sandbox.id === id);
    if (known !== undefined && !known.ready && record.ready) return known; // an older answer that came late
    this.#store(withSandbox(before, record), id, JSON.stringify(known) !== JSON.stringify(record));
    return record;
  }

  /** Reads all of one pod from the runtime: the truth before something may not be done twice. */
  async refreshPod(pod: { readonly uid: string; readonly namespace: string; readonly name: string }, signal: AbortSignal): Promise<PodRuntimeState> {
    await this.#read({ labelSelector: { 'io.kubernetes.pod.uid': pod.uid } }, pod.uid, signal);
    return this.#pods.get(pod.uid) ?? emptyState(pod);
  }

  /** Looks at everything that the runtime has. */
  async relist(signal: AbortSignal): Promise<void> {
    const { clock, relisted } = this.#deps;
    const startedAt = clock.monotonic();
    await this.#read({}, undefined, signal);
    this.#listedAtMs = clock.monotonic();
    relisted?.(this.#listedAtMs - startedAt);
    this.#synced.set(true);
  }

  async #read(filter: { readonly labelSelector?: Record<string, string> }, podUid: string | undefined, signal: AbortSignal): Promise<void> {
    const { runtime, clock } = this.#deps;
    const startedAtMs = clock.now();
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(filter, signal), runtime.listContainers(filter, signal)]);
    const listed = new Set<string>();
    const stale: Promise<unknown>[] = [];
    for (const one of [...sandboxes, ...containers]) {
      if (podOf(one.labels) === undefined) continue;
      listed.add(one.id);
      const record = this.recordOf(one.id);
      if (record !== undefined && isListedAs(record, one)) continue;
      stale.push('podSandboxId' in one ? this.refreshContainer(one.id, signal) : this.refreshSandbox(one.id, signal));
    }
    for (const [id, uid] of [...this.#owners]) {
      if (listed.has(id) || (podUid !== undefined && uid !== podUid)) continue;
      if ((this.recordOf(id)?.createdAtMs ?? 0) < startedAtMs - listRaceMs || podUid !== undefined) this.#forget(id);
    }
    await Promise.all(stale);
  }

  /**
   * Reads a sandbox or container again, whichever it is.
   *
   * @returns whether it still runs
   */
  async reread(id: string, signal: AbortSignal): Promise<boolean> {
    const known = this.recordOf(id);
    if (known === undefined || !('ready' in known)) {
      const container = await this.refreshContainer(id, signal);
      if (container !== undefined || known !== undefined) return container !== undefined && isRunning(container);
    }
    return (await this.refreshSandbox(id, signal))?.ready === true;
  }

  recordOf(id: string): SandboxRecord | ContainerRecord | undefined {
    const state = this.#pods.get(this.#owners.get(id) ?? '');
    return state?.sandboxes.find((sandbox) => sandbox.id === id) ?? state?.containers.find((container) => container.id === id);
  }

  #putContainer(pod: { readonly uid: string; readonly namespace: string; readonly name: string }, record: ContainerRecord): ContainerRecord {
    const before = this.#pods.get(pod.uid) ?? emptyState(pod);
    const known = before.containers.find((container) => container.id === record.id);
    if (known?.phase === 'exited' || (known?.phase === 'running' && record.phase === 'created')) return known; // an older answer that came late
    this.#store(withContainer(before, record), record.id, JSON.stringify(known) !== JSON.stringify(record));
    return record;
  }

  #store(state: PodRuntimeState, id: string, changed: boolean): void {
    if (!changed) return;
    this.#owners.set(id, state.uid);
    this.#pods.set(state.uid, state);
    this.#tell(state.uid);
  }

  #forget(id: string): void {
    const uid = this.#owners.get(id);
    const state = uid === undefined ? undefined : this.#pods.get(uid);
    this.#owners.delete(id);
    if (state === undefined) return;
    const rest = without(state, id);
    if (rest.sandboxes.length + rest.containers.length === 0) this.#pods.delete(state.uid);
    else this.#pods.set(state.uid, rest);
    this.#tell(state.uid);
  }

  #tell(podUid: string): void {
    for (const listener of [...this.#listeners]) listener(podUid);
  }
}
