import type { Clock, Timer } from '#base/clock.ts';
import { Heap } from './heap.ts';
import type { PodDemand } from './pod-demand.ts';

export interface QueueTimings {
  readonly firstBackoffMs: number;
  readonly lastBackoffMs: number;
  /** A pod that nothing woke is tried again after this long all the same. */
  readonly leftoverMs: number;
  /**
   * While no more pods than this are without a node, one that an event woke is tried at once instead of after its back-off. Upstream does so
   * whenever it has nothing better to do; in a crowd that would cost a try a pod for every pod that ends.
   */
  readonly eagerUpTo: number;
}

/** Upstream's times. */
export const defaultQueueTimings: QueueTimings = { firstBackoffMs: 1000, lastBackoffMs: 10_000, leftoverMs: 300_000, eagerUpTo: 32 };

/** A pod that wants a node. */
export interface QueuedPod {
  readonly demand: PodDemand;
  /** Tries that have failed. */
  readonly failures: number;
  /** When it became one that may be tried, monotonic. */
  readonly sinceMs: number;
  readonly order: number;
}

// active --pop--> (with the scheduler) --rejected--> waiting --an event, or 5 minutes--> backoff --its time, or eager--> active
//                                      `---failed---------------------------------------^
type Place =
  | { readonly kind: 'active'; readonly pod: QueuedPod }
  | { readonly kind: 'waiting'; readonly pod: QueuedPod; readonly backoffEndsMs: number; readonly timer: Timer }
  | { readonly kind: 'backoff'; readonly pod: QueuedPod; readonly timer: Timer };

/** Pods without a node: those to be tried next, by priority and then by age, and those that wait for something to change. */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #timings: QueueTimings;
  readonly #onReady: () => void;
  /** By uid. */
  readonly #places = new Map<string, Place>();
  readonly #active = new Heap<QueuedPod>(isBefore);
  #order = 0;

  /** @param onReady called when there may be a pod to pop */
  constructor(clock: Clock, timings: QueueTimings, onReady: () => void) {
    this.#clock = clock;
    this.#timings = timings;
    this.#onReady = onReady;
  }

  /** A new pod, or the new state of one that is here; `mayHelp`: it changed in a way that may make it fit. */
  put(demand: PodDemand, mayHelp: boolean): void {
    const place = this.#places.get(demand.pod.metadata.uid);
    const pod = { ...(place?.pod ?? { failures: 0, sinceMs: 0, order: 0 }), demand };
    if (place === undefined) this.#activate(pod);
    else if (place.kind === 'active') this.#activate(pod, place.pod);
    else if (place.kind === 'waiting' && mayHelp) this.#wake({ ...place, pod });
    else this.#places.set(demand.pod.metadata.uid, { ...place, pod });
  }

  /** @param uid may be unknown */
  remove(uid: string): void {
    const place = this.#places.get(uid);
    if (place !== undefined && place.kind !== 'active') place.timer.cancel();
    this.#places.delete(uid);
  }

  /** The pod to try now; it is the caller's until `rejected` or `failed`. */
  pop(): QueuedPod | undefined {
    for (let pod = this.#active.pop(); pod !== undefined; pod = this.#active.pop()) {
      const { uid } = pod.demand.pod.metadata;
      const place = this.#places.get(uid);
      if (place?.pod !== pod) continue; // left behind by a change: only the latest state of a pod counts
      this.#places.delete(uid);
      return pod;
    }
    return undefined;
  }

  /** No node fits: the pod waits until something changes. */
  rejected(pod: QueuedPod): void {
    const failed = { ...pod, failures: pod.failures + 1 };
    const backoffEndsMs = this.#clock.monotonic() + this.#backoffMs(failed);
    const { uid } = pod.demand.pod.metadata;
    const timer = this.#clock.after(this.#timings.leftoverMs, () => this.#reactivate(uid));
    this.#places.set(uid, { kind: 'waiting', pod: failed, backoffEndsMs, timer });
  }

  /** The try broke off, for a reason that has nothing to do with the nodes: it is made again after the back-off. */
  failed(pod: QueuedPod): void {
    const failed = { ...pod, failures: pod.failures + 1 };
    this.#backOff(failed, this.#backoffMs(failed));
  }

  /** Something changed that may help: every pod that waits is tried again, as soon as its back-off is over. */
  wakeAll(): void {
    for (const place of [...this.#places.values()]) if (place.kind === 'waiting') this.#wake(place);
  }

  /** Ends all timers. */
  close(): void {
    for (const uid of [...this.#places.keys()]) this.remove(uid);
  }

  #wake(place: Place & { readonly kind: 'waiting' }): void {
    place.timer.cancel();
    const isEager = this.#places.size <= this.#timings.eagerUpTo;
    const leftMs = isEager ? 0 : place.backoffEndsMs - this.#clock.monotonic();
    if (leftMs > 0) this.#backOff(place.pod, leftMs);
    else this.#activate(place.pod);
  }

  #backOff(pod: QueuedPod, ms: number): void {
    const { uid } = pod.demand.pod.metadata;
    this.#places.set(uid, { kind: 'backoff', pod, timer: this.#clock.after(ms, () => this.#reactivate(uid)) });
  }

  #reactivate(uid: string): void {
    const place = this.#places.get(uid);
    if (place !== undefined) this.#activate(place.pod);
  }

  /** @param instead of this one, whose turn it takes */
  #activate(pod: QueuedPod, instead?: QueuedPod): void {
    this.#order += 1;
    const turn = instead ?? { sinceMs: this.#clock.monotonic(), order: this.#order };
    const queued = { ...pod, sinceMs: turn.sinceMs, order: turn.order };
    this.#places.set(pod.demand.pod.metadata.uid, { kind: 'active', pod: queued });
    this.#active.push(queued);
    this.#onReady();
  }

  #backoffMs(pod: QueuedPod): number {
    return Math.min(this.#timings.firstBackoffMs * 2 ** (pod.failures - 1), this.#timings.lastBackoffMs);
  }
}

function isBefore(a: QueuedPod, b: QueuedPod): boolean {
  if (a.demand.priority !== b.demand.priority) return a.demand.priority > b.demand.priority;
  return a.sinceMs === b.sinceMs ? a.order < b.order : a.sinceMs < b.sinceMs;
}
