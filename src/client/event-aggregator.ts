import type { Clock } from '#base/clock.ts';

/** Upstream's: after so many different messages about the same thing within ten minutes the further ones are one event. */
const DIFFERENT_MESSAGES = 10;
const FORGET_AFTER_MS = 600_000;
const MAX_GROUPS = 4096;

interface Group {
  readonly messages: Set<string>;
  readonly atMs: number;
}

/** Folds events that differ in their message only. */
export class EventAggregator {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param group everything that makes the event what it is but its message
   * @returns whether there are so many of them that this one is to be folded
   */
  folds(group: string, message: string): boolean {
    const nowMs = this.#clock.monotonic();
    const known = this.#groups.get(group);
    const messages = known === undefined || nowMs - known.atMs > FORGET_AFTER_MS ? new Set<string>() : known.messages;
    messages.add(message);
    this.#groups.delete(group); // to the end of the map: the first is the one that was not used for longest
    this.#groups.set(group, { messages, atMs: nowMs });
    const [oldest] = this.#groups.size > MAX_GROUPS ? this.#groups.keys() : [];
    if (oldest !== undefined) this.#groups.delete(oldest);
    if (messages.size < DIFFERENT_MESSAGES) return false;
    messages.delete(message); // stays bounded, and folds the next one too
    return true;
  }
}
