import type { Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isStatic } from '../resources/critical.ts';
import { isTerminal, type Refusal } from '../status/compute-pod-status.ts';
import type { PodStanding } from '../status/status-reporter.ts';
import { leavesNothing, type PodPhase } from './pod-phase.ts';
import { graceMsOf, leastGraceMs, PodWorker, type WorkerDeps } from './pod-worker.ts';

export interface PodWorkersDeps extends WorkerDeps {
  /** The pod is gone, from the API and from the node. */
  readonly gone: (podUid: string) => void;
  /** The API's copy of a pod that has a worker. */
  readonly seen: (pod: Pod) => void;
  /** A pod that is likely to start: what its steps will wait for can be asked for now. */
  readonly prepare: (pod: Pod) => void;
}

/** How much of a pod is left: something may run; nothing does, but volumes, folders and the like are there; nothing that its end takes back. */
export type PodRemains = 'running' | 'ended' | 'stopped';

/** A worker, for figures. */
export interface WorkerFigure {
  readonly pod: Pod;
  readonly phase: PodPhase['phase'];
  /** Its object is gone, or there never was one. */
  readonly isGone: boolean;
}

interface Entry {
  readonly worker: PodWorker;
  /** Its object is no longer in the API, or it never had one. */
  objectIsGone: boolean;
  hasReturned: boolean;
  /** It came back while its end is under way: it starts anew after that. */
  again: Pod | undefined;
}

/** One worker a pod; never two for the same uid. */
export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #tasks: TaskGroup;
  readonly #listeners = new Set<(podUid: string) => void>();
  /** Static pods whose full name another one still has, in the order in which they came. */
  #waiting: readonly Pod[] = [];

  constructor(deps: PodWorkersDeps) {
    this.#deps = {
      ...deps,
      stopped: (pod, reason) => {
        deps.stopped(pod, reason);
        this.#tell(pod.metadata.uid);
      },
    };
    this.#tasks = new TaskGroup((what, error) => deps.logger.error('a pod worker died', { pod: what, error: messageOf(error) }));
  }

  /** The pod is there, or has changed. */
  upsert(pod: Pod): void {
    const present = this.#entries.get(pod.metadata.uid);
    if (present === undefined) this.#begin(pod);
    else if (present.objectIsGone) present.again = pod;
    else {
      present.worker.update(pod);
      this.#deps.seen(pod);
      this.#stopIfWanted(present.worker, pod);
    }
  }

  /** Its object is gone from the API (by force, or because we let it go), or its manifest from the node. */
  removed(podUid: string): void {
    this.#waiting = this.#waiting.filter(({ metadata }) => metadata.uid !== podUid);
    const entry = this.#entries.get(podUid);
    if (entry === undefined) return;
    const { pod } = entry.worker;
    entry.again = undefined;
    entry.objectIsGone = true;
    entry.worker.stop('deleted', isStatic(pod) ? graceMsOf(pod) : leastGraceMs);
    this.#forgetIfDone(podUid, entry);
  }

  /** Whether the pod's object is gone while something of the pod may still be here. */
  isGone(podUid: string): boolean {
    return this.#entries.get(podUid)?.objectIsGone === true;
  }

  /** Whether a static pod of that name has not been taken down whole, although its manifest is gone. */
  isEnding(namespace: string, name: string): boolean {
    return [...this.#entries.values()].some(
      ({ worker, objectIsGone }) => objectIsGone && isStatic(worker.pod) && isNamed(worker.pod, namespace, name),
    );
  }

  /** Something on the node belongs to a pod that nobody knows. */
  takeDownOrphan(pod: Pod): void {
    if (this.#entries.has(pod.metadata.uid)) return;
    if (pod.metadata.name !== '') this.#deps.counts.orphaned(); // of others only folders are left
    this.#start(pod, (entry) => {
      entry.objectIsGone = true;
      entry.worker.stop('orphan', leastGraceMs);
    });
  }

  /** Stops a pod that was let in. One that stops already gets less time if that is nearer. @returns whether there is such a pod */
  putOut(podUid: string, graceMs: number, refusal: Refusal): boolean {
    const entry = this.#entries.get(podUid);
    if (entry === undefined || entry.objectIsGone) return false;
    const grace = Math.max(
      leastGraceMs,
      Math.min(graceMs, (entry.worker.pod.metadata.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY) * 1000),
    );
    entry.worker.stop('evicted', grace, refusal);
    return true;
  }

  remainsOf(podUid: string): PodRemains {
    const worker = this.#entries.get(podUid)?.worker;
    if (worker === undefined || worker.state.phase === 'stopped') return 'stopped';
    return worker.hasEnded ? 'ended' : 'running';
  }

  /**
   * Whether dead containers and logs of the pod are nobody's any more: it is unknown, or it was put out or deleted and has ended. Of pods
   * that went with a shutdown of the node, and might have succeeded, people want to see why.
   */
  keepsNothing(podUid: string): boolean {
    const worker = this.#entries.get(podUid)?.worker;
    if (worker === undefined) return true;
    const { state, refusal } = worker;
    const isPutOut = state.phase === 'stopped' && state.reason === 'evicted' && refusal?.putOut?.keepsSuccess !== true;
    return isPutOut || (state.phase === 'stopped' && leavesNothing(state.reason));
  }

  /** Calls back when a pod may have changed in what is left of it; the result unsubscribes. */
  subscribe(listener: (podUid: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wake(podUid: string): void {
    this.#entries.get(podUid)?.worker.wake();
    this.#tell(podUid);
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

  figures(): readonly WorkerFigure[] {
    return [...this.#entries.values()].map(({ worker, objectIsGone: isGone }) => ({ pod: worker.pod, phase: worker.state.phase, isGone }));
  }

  knownUids(): ReadonlySet<string> {
    return new Set(this.#entries.keys());
  }

  /** Ends the loops; the pods stay as they are. */
  async close(): Promise<void> {
    await this.#tasks.close();
  }

  /** Of static pods of one name only one is on the node at a time. */
  #begin(pod: Pod): void {
    const { namespace, name, uid } = pod.metadata;
    const isTaken = isStatic(pod) && [...this.#entries.values()].some(({ worker }) => isStatic(worker.pod) && isNamed(worker.pod, namespace, name));
    if (isTaken) {
      this.#waiting = [...this.#waiting.filter((one) => one.metadata.uid !== uid), pod];
      return;
    }
    this.#deps.counts.seen(pod);
    const { worker } = this.#start(pod, (entry) => this.#stopIfWanted(entry.worker, pod));
    if (worker.state.phase === 'syncing') this.#deps.prepare(pod);
  }

  /** @param before its loop begins: a pod that is to end must not begin to start */
  #start(pod: Pod, before: (entry: Entry) => void): Entry {
    const { uid, name } = pod.metadata;
    const entry: Entry = { worker: new PodWorker(pod, this.#deps), objectIsGone: false, hasReturned: false, again: undefined };
    this.#entries.set(uid, entry);
    before(entry);
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
    this.#tell(podUid);
    const { namespace, name } = entry.worker.pod.metadata;
    const next = entry.again ?? this.#waiting.find((pod) => isNamed(pod, namespace, name));
    if (next === undefined) return;
    if (next === entry.again) this.#deps.counts.restarted(isStatic(next));
    this.#waiting = this.#waiting.filter((pod) => pod !== next);
    this.#begin(next);
  }

  #tell(podUid: string): void {
    for (const listener of [...this.#listeners]) listener(podUid);
  }
}

function isNamed({ metadata }: Pod, namespace: string, name: string): boolean {
  return metadata.name === name && metadata.namespace === namespace;
}
