import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod, PodStatus } from '#api/types/core-v1.ts';
import type { Clock, Timer } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import type { PodCounts } from '../ports/pod-counts.ts';
import { isStatic } from '../resources/critical.ts';
import { isTerminal } from './compute-pod-status.ts';
import { statusPatch } from './status-patch.ts';

export interface StatusManagerSettings {
  /** A change that others are likely to follow waits so long for them. */
  readonly coalesceMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

export const defaultStatusManagerSettings: StatusManagerSettings = { coalesceMs: 250, firstRetryMs: 20, lastRetryMs: 10_000 };

export interface StatusManagerDeps {
  readonly client: Client;
  readonly counts?: Pick<PodCounts, 'statusTold'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: StatusManagerSettings;
}

interface Entry {
  pod: Pod;
  /** Where the status is written: the pod's own object, or the mirror of a static pod as long as there is one. */
  object: Pod | undefined;
  /** What the API server has, as far as we know, and at which revision. */
  known: PodStatus | undefined;
  knownRevision: number;
  wanted: PodStatus;
  /** Monotonic; the first change that the API server has not been told. */
  changedAtMs: number | undefined;
  /** Nothing of the pod is left on the node: its object may go. */
  isFinished: boolean;
  isSending: boolean;
  /** People wait for the newest of it. */
  isUrgent: boolean;
  /** A patch that changed nothing: the server takes it no other way, so it is not sent again. */
  refused: string | undefined;
  retryMs: number;
  timer: Timer | undefined;
}

/** Tells the API server the statuses of the pods: one request a pod at a time, always of the newest. Nobody waits for it. */
export class StatusManager {
  readonly #deps: StatusManagerDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #tasks: TaskGroup;

  constructor(deps: StatusManagerDeps) {
    this.#deps = deps;
    this.#tasks = new TaskGroup((what, error) => deps.logger.error('pod status', { pod: what, error: messageOf(error) }));
  }

  /** The newest status that was handed in; else what the API server has. */
  get(podUid: string): PodStatus | undefined {
    return this.#entries.get(podUid)?.wanted;
  }

  set(pod: Pod, wanted: PodStatus, urgency: 'now' | 'soon'): void {
    const entry = this.#entry(pod, wanted);
    entry.wanted = wanted;
    entry.changedAtMs ??= this.#deps.clock.monotonic();
    if (urgency === 'now') entry.isUrgent = true;
    this.#schedule(entry, urgency === 'now' ? 0 : this.#deps.settings.coalesceMs);
  }

  /**
   * The object as the API server has it: if its status is not what was told, it is told again.
   *
   * @param podUid of the static pod whose mirror the object is
   */
  seen(object: Pod, podUid = object.metadata.uid): void {
    const entry = this.#entries.get(podUid);
    if (entry === undefined) return;
    const isAnother = entry.object?.metadata.uid !== object.metadata.uid;
    if (object.metadata.uid === podUid) entry.pod = object;
    entry.object = object;
    const revision = Number(object.metadata.resourceVersion);
    if (!isAnother && (entry.isSending || revision < entry.knownRevision)) return;
    entry.known = object.status;
    entry.knownRevision = revision;
    this.#schedule(entry, this.#deps.settings.coalesceMs);
  }

  /** A static pod has no mirror any more: nothing is told until there is another one. */
  mirrorGone(podUid: string): void {
    const entry = this.#entries.get(podUid);
    if (entry !== undefined) entry.object = undefined;
  }

  /** Nothing of the pod is left: once its status is told, an object that waits for its deletion goes. */
  finish(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid) ?? this.#entry(pod, pod.status ?? {});
    entry.pod = pod;
    entry.isFinished = true;
    entry.isUrgent = true;
    this.#schedule(entry, 0);
  }

  forget(podUid: string): void {
    this.#entries.get(podUid)?.timer?.cancel();
    this.#entries.delete(podUid);
  }

  async close(): Promise<void> {
    for (const uid of [...this.#entries.keys()]) this.forget(uid);
    await this.#tasks.close();
  }

  #entry(pod: Pod, wanted: PodStatus): Entry {
    const present = this.#entries.get(pod.metadata.uid);
    if (present !== undefined) return present;
    const entry: Entry = {
      pod,
      object: isStatic(pod) ? undefined : pod,
      known: pod.status,
      knownRevision: Number(pod.metadata.resourceVersion),
      wanted,
      changedAtMs: undefined,
      isFinished: false,
      isSending: false,
      isUrgent: false,
      refused: undefined,
      retryMs: this.#deps.settings.firstRetryMs,
      timer: undefined,
    };
    this.#entries.set(pod.metadata.uid, entry);
    return entry;
  }

  #schedule(entry: Entry, delayMs: number): void {
    const { uid } = entry.pod.metadata;
    if (entry.isSending || this.#entries.get(uid) !== entry) return; // looks again when it is done
    if (delayMs > 0) {
      const patch = entry.object === undefined ? undefined : statusPatch(entry.object.metadata.uid, entry.known, entry.wanted);
      if (patch === undefined || JSON.stringify(patch) === entry.refused) {
        entry.changedAtMs = undefined;
        return;
      }
    }
    if (delayMs === 0) {
      entry.timer?.cancel();
      entry.timer = undefined;
      this.#start(entry);
      return;
    }
    entry.timer ??= this.#deps.clock.after(delayMs, () => {
      entry.timer = undefined;
      this.#start(entry);
    });
  }

  #start(entry: Entry): void {
    if (entry.isSending || this.#entries.get(entry.pod.metadata.uid) !== entry) return;
    entry.isSending = true;
    this.#tasks.run(entry.pod.metadata.name, (signal) => this.#send(entry, signal));
  }

  async #send(entry: Entry, signal: AbortSignal): Promise<void> {
    const { settings, logger } = this.#deps;
    try {
      do {
        entry.isUrgent = false;
        await this.#sendOnce(entry, signal);
        entry.retryMs = settings.firstRetryMs;
      } while (entry.isUrgent);
      entry.isSending = false;
      this.#schedule(entry, settings.coalesceMs);
    } catch (error) {
      entry.isSending = false;
      if (signal.aborted) return;
      if (!(error instanceof AppError)) throw error;
      if (await this.#lostItsObject(entry, error, signal)) return;
      const { name } = entry.pod.metadata;
      logger.warn('pod status cannot be told', { pod: name, code: error.code, error: error.message });
      this.#schedule(entry, entry.retryMs);
      entry.retryMs = Math.min(entry.retryMs * 2, settings.lastRetryMs);
    }
  }

  async #sendOnce(entry: Entry, signal: AbortSignal): Promise<void> {
    const { client, clock, counts } = this.#deps;
    const { object, wanted, changedAtMs } = entry;
    entry.changedAtMs = undefined;
    if (object === undefined) return;
    const { uid, name, namespace } = object.metadata;
    const patch = statusPatch(uid, entry.known, wanted);
    if (patch !== undefined && JSON.stringify(patch) !== entry.refused) {
      const answer = await client.patch(podKind, { namespace, name }, 'strategic', patch, 'status', signal);
      const left = JSON.stringify(statusPatch(uid, answer.status, wanted));
      entry.refused = left === JSON.stringify(patch) ? left : undefined;
      entry.known = answer.status;
      entry.knownRevision = Number(answer.metadata.resourceVersion);
      if (changedAtMs !== undefined) counts?.statusTold(clock.monotonic() - changedAtMs);
    }
    const mayGo =
      entry.isFinished && uid === entry.pod.metadata.uid && entry.pod.metadata.deletionTimestamp !== undefined && isTerminal(entry.known?.phase);
    if (!mayGo || entry.isUrgent) return;
    await client.delete(podKind, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } }, signal);
    this.forget(uid);
  }

  /** @returns true when there is nobody to tell any more: the object is gone, or there is another one of its name */
  async #lostItsObject(entry: Entry, error: AppError, signal: AbortSignal): Promise<boolean> {
    const { object, pod } = entry;
    if (object === undefined) return false;
    const { uid, name, namespace } = object.metadata;
    const isGone = isNotFound(error) || (isConflict(error) && (await this.#uidOf({ namespace, name }, uid, signal)) !== uid);
    if (!isGone) return false;
    if (uid === pod.metadata.uid) this.forget(uid);
    else if (entry.object === object) entry.object = undefined;
    return true;
  }

  /** A conflict may also be one of the server with itself: only the object tells. @returns `otherwise` when it cannot be read */
  async #uidOf(where: { readonly namespace: string | undefined; readonly name: string }, otherwise: string, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#deps.client.get(podKind, where, signal)).metadata.uid;
    } catch (error) {
      return isNotFound(error) ? '' : otherwise;
    }
  }
}
