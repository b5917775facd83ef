import type { Clock } from '#base/clock.ts';
import type { IndexedObject } from './indexed-object.ts';

const maxSnapshots = 32;
/** The store keeps its history about as long: a client must not get used to more. */
const maxAgeMs = 5 * 60_000;

interface Snapshot {
  readonly objects: readonly IndexedObject[];
  readonly takenAtMs: number;
}

/** States of a kind that a client reads page by page; the lists share their objects with the index. */
export class PageSnapshots {
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param what names the kind and the namespace */
  keep(what: string, revision: number, objects: readonly IndexedObject[]): void {
    const key = `${what}@${revision}`;
    if (this.#snapshots.has(key)) return;
    const oldest = this.#snapshots.keys().next().value;
    if (oldest !== undefined && this.#snapshots.size >= maxSnapshots) this.#snapshots.delete(oldest);
    this.#snapshots.set(key, { objects, takenAtMs: this.#clock.monotonic() });
  }

  find(what: string, revision: number): readonly IndexedObject[] | undefined {
    const key = `${what}@${revision}`;
    const snapshot = this.#snapshots.get(key);
    if (snapshot === undefined) return undefined;
    if (this.#clock.monotonic() - snapshot.takenAtMs <= maxAgeMs) return snapshot.objects;
    this.#snapshots.delete(key);
    return undefined;
  }
}
