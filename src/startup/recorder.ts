import type { Clock, Timer } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { BatchAnswer, NodePart, PodStartupBatch, PullProgress } from './pod-startup.ts';
import { type DescribeStep, recordTransition } from './record.ts';
import type { Transition } from './transition.ts';

export interface RecorderSettings {
  readonly nodeName: string;
  /** How long changes are gathered while somebody watches, and otherwise. */
  readonly watchedPeriodMs: number;
  readonly idlePeriodMs: number;
  /** When this step is done the start is over, and its record is shipped soon: with those of the pods that start beside it. */
  readonly lastStep: string;
  /** Records kept at most; the oldest go first. */
  readonly keep: number;
}

export interface RecorderPorts {
  readonly describe: DescribeStep;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes a batch to whoever serves the records. */
  readonly ship: (batch: PodStartupBatch, signal: AbortSignal) => Promise<BatchAnswer>;
}

/** Nobody reads faster, and pods that start together end together. */
const gatherMs = 100;

/**
 * The node's start-up records: fed by every transition, shipped in batches. It never slows or breaks a start: `record` only changes memory,
 * and a batch that cannot be shipped is shipped with the next.
 */
export class StartupRecorder {
  readonly #settings: RecorderSettings;
  readonly #ports: RecorderPorts;
  readonly #parts = new Map<string, NodePart>();
  readonly #changed = new Set<string>();
  readonly #abort = new AbortController();
  #isWatched = false;
  #isUrgent = false;
  #timer: Timer | undefined;
  #shipping: Promise<void> | undefined;

  constructor(settings: RecorderSettings, ports: RecorderPorts) {
    this.#settings = settings;
    this.#ports = ports;
  }

  /** The `TransitionListener` of the runner. */
  record = (transition: Transition): void => {
    const before = this.#parts.get(transition.podUid);
    const after = recordTransition(before, transition, this.#ports.describe);
    if (after === before) return;
    this.#parts.set(transition.podUid, after);
    this.#changed.add(transition.podUid);
    for (const oldest of this.#parts.keys()) {
      if (this.#parts.size <= this.#settings.keep) break;
      this.#parts.delete(oldest);
      this.#changed.delete(oldest);
    }
    const isOver = transition.step === this.#settings.lastStep && transition.state.kind === 'done' && transition.direction === 'start';
    if (isOver) this.#hurry();
    this.#schedule();
  };

  /** How far a pull has come that the pod waits for. @param progress `undefined`: it has ended */
  notePull = (podUid: string, image: string, progress: PullProgress | undefined): void => {
    const part = this.#parts.get(podUid);
    if (part === undefined) return;
    const others = (part.pulls ?? []).filter((pull) => pull.image !== image);
    this.#parts.set(podUid, { ...part, pulls: progress === undefined ? others : [...others, progress] });
    this.#changed.add(podUid);
    this.#schedule();
  };

  /** All records of this node, oldest first. */
  list(): readonly NodePart[] {
    return [...this.#parts.values()];
  }

  /** Drops what was not shipped. May be called twice. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.#timer?.cancel();
    await this.#shipping;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#shipping !== undefined || this.#changed.size === 0 || this.#abort.signal.aborted) return;
    const usualMs = this.#isWatched ? this.#settings.watchedPeriodMs : this.#settings.idlePeriodMs;
    const periodMs = this.#isUrgent ? Math.min(gatherMs, usualMs) : usualMs;
    this.#timer = this.#ports.clock.after(periodMs, () => {
      this.#timer = undefined;
      this.#shipping = this.#ship().finally(() => {
        this.#shipping = undefined;
        this.#schedule();
      });
    });
  }

  #hurry(): void {
    if (this.#isUrgent) return;
    this.#isUrgent = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #ship(): Promise<void> {
    this.#isUrgent = false;
    const uids = [...this.#changed];
    this.#changed.clear();
    const items = uids.flatMap((uid) => this.#parts.get(uid) ?? []);
    try {
      const answer = await this.#ports.ship({ nodeName: this.#settings.nodeName, items }, this.#abort.signal);
      this.#isWatched = answer.isWatched;
    } catch (error) {
      for (const uid of uids) if (this.#parts.has(uid)) this.#changed.add(uid);
      if (!this.#abort.signal.aborted) this.#ports.logger.debug('start-up records not shipped', { error: messageOf(error), records: items.length });
    }
  }
}
