import type { Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isTerminal } from '../status/compute-pod-status.ts';
import type { PodStanding } from '../status/status-reporter.ts';
import { leavesNothing } from './pod-phase.ts';
import { graceMsOf, PodWorker, type WorkerDeps } from './pod-worker.ts';

export interface PodWorkersDeps extends WorkerDeps {
  /** The pod is gone, from the API and from the node. */
  readonly gone: (podUid: string) => void;
  /** The API's copy of a pod that has a worker. */
  readonly seen: (pod: Pod) => void;
}

/** Upstream's floor: a pod whose object is already gone gets this long. */
const goneGraceMs = 1000;

interface Entry {
  readonly worker: PodWorker;
  /** Its object is no longer in the API, or it never had one. */
  objectIsGone: boolean;
  hasReturned: boolean;
}

/** One worker a pod; never two for the same uid. */
export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #tasks: TaskGroup;

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup((what, error) => deps.logger.error('a pod worker died', { pod: what, error: messageOf(error) }));
  }

  /** The pod is there, or has changed. */
  upsert(pod: Pod): void {
    const present = this.#entries.get(pod.metadata.uid);
    if (present !== undefined) this.#deps.seen(pod);
    const { worker } = present ?? this.#start(pod);
    worker.update(pod);
    this.#stopIfWanted(worker, pod);
  }

  /** Its object is gone from the API: by force, or because we let it go. */
  removed(podUid: string): void {
    const entry = this.#entries.get(podUid);
    if (entry === undefined) return;
    entry.objectIsGone = true;
    entry.worker.stop('deleted', goneGraceMs);
    this.#forgetIfDone(podUid, entry);
  }

  /** Something on the node belongs to a pod that nobody knows. */
  takeDownOrphan(pod: Pod): void {
    if (this.#entries.has(pod.metadata.uid)) return;
    const entry = this.#start(pod);
    entry.objectIsGone = true;
    entry.worker.stop('orphan', goneGraceMs);
  }

  wake(podUid: string): void {
    this.#entries.get(podUid)?.worker.wake();
  }

  wakeAll(): void {
    for (const { worker } of this.#entries.values()) worker.wake();
  }

  has(podUid: string): boolean {
    return this.#entries.has(podUid);
  }

  /** What its status is computed from; none for a pod without an object. */
  standingOf(podUid: string): PodStanding | undefined {
    const entry = this.#entries.get(podUid);
    if (entry === undefined || entry.objectIsGone) return undefined;
    const { pod, hasEnded, refusal } = entry.worker;
    return { pod, ended: hasEnded, refusal };
  }

  /** Every pod that has an object. */
  pods(): readonly Pod[] {
    return [...this.#entries.values()].flatMap(({ worker, objectIsGone }) => (objectIsGone ? [] : [worker.pod]));
  }

  knownUids(): ReadonlySet<string> {
    return new Set(this.#entries.keys());
  }

  /** Ends the loops; the pods stay as they are. */
  async close(): Promise<void> {
    await this.#tasks.close();
  }

  #start(pod: Pod): Entry {
    const { uid, name } = pod.metadata;
    const entry: Entry = { worker: new PodWorker(pod, this.#deps), objectIsGone: false, hasReturned: false };
    this.#entries.set(uid, entry);
    this.#tasks.run(name, async (signal) => {
      await entry.worker.run(signal);
      entry.hasReturned = !signal.aborted;
      this.#forgetIfDone(uid, entry);
    });
    return entry;
  }

  #stopIfWanted(worker: PodWorker, pod: Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) worker.stop('deleted', graceMsOf(pod));
    else if (isTerminal(pod.status?.phase)) worker.stop('finished', graceMsOf(pod));
  }

  #forgetIfDone(podUid: string, entry: Entry): void {
    const { state } = entry.worker;
    if (!entry.objectIsGone || !entry.hasReturned || state.phase !== 'stopped' || !leavesNothing(state.reason)) return;
    this.#entries.delete(podUid);
    this.#deps.gone(podUid);
  }
}
