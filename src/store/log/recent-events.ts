import type { StorageEvent } from '../storage.ts';

/**
 * The newest events, shared by all readers: a reader that keeps up never touches the medium, one that falls behind costs nothing, because
 * it goes back to the log.
 */
export class RecentEvents {
  readonly #limit: number;
  #events: StorageEvent[] = [];
  #firstRevision: number;

  /** @param nextRevision of the first event that will be added */
  constructor(nextRevision: number, limit: number) {
    this.#firstRevision = nextRevision;
    this.#limit = limit;
  }

  /** @param events one for each revision, without a gap to what was added before */
  add(events: readonly StorageEvent[]): void {
    this.#events.push(...events);
    if (this.#events.length <= 2 * this.#limit) return; // trimmed by halves, so that a commit does not move the whole list
    const surplus = this.#events.length - this.#limit;
    this.#events = this.#events.slice(surplus);
    this.#firstRevision += surplus;
  }

  /** Every event from this revision on, `undefined` when the list does not reach back that far. */
  from(revision: number): readonly StorageEvent[] | undefined {
    return revision < this.#firstRevision ? undefined : this.#events.slice(revision - this.#firstRevision);
  }
}
