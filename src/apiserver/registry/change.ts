import type { IndexedObject } from './indexed-object.ts';
import { type ObjectFilter, passes } from './object-filter.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What one watcher sees of a change. */
export interface SeenChange {
  readonly type: ChangeType;
  readonly object: IndexedObject;
}

/** How a watcher wants its events written. */
export interface WatchFormat {
  /** Watchers whose formats have the same name get the same bytes; undefined: the lines are for this watcher alone. */
  readonly sharedAs: string | undefined;
  encode(type: ChangeType, object: IndexedObject): Uint8Array;
}

/** One change of one object. All watchers share it, and with it the bytes of its events. */
export class Change {
  readonly type: ChangeType;
  /** The new state; the last one, at the revision of its end, when it was deleted. */
  readonly object: IndexedObject;
  readonly previous: IndexedObject | undefined;
  readonly #lines = new Map<string, Uint8Array>();
  #left: IndexedObject | undefined;

  constructor(type: ChangeType, object: IndexedObject, previous: IndexedObject | undefined) {
    this.type = type;
    this.object = object;
    this.previous = previous;
  }

  get revision(): number {
    return this.object.revision;
  }

  /** An object that begins to match is new to the watcher, one that ends to match is deleted for it, in its last matching state. */
  seenThrough(filter: ObjectFilter): SeenChange | undefined {
    const { key, facts } = this.object;
    const before = this.previous !== undefined && passes(filter, key, this.previous.facts);
    const after = this.type !== 'DELETED' && passes(filter, key, facts);
    if (after) return { type: before ? 'MODIFIED' : 'ADDED', object: this.object };
    if (!before) return undefined;
    return { type: 'DELETED', object: this.type === 'DELETED' ? this.object : this.#lastMatching() };
  }

  line(format: WatchFormat, seen: SeenChange): Uint8Array {
    if (format.sharedAs === undefined) return format.encode(seen.type, seen.object);
    const id = `${seen.type} ${seen.object === this.object ? '' : 'left '}${format.sharedAs}`;
    const known = this.#lines.get(id);
    if (known !== undefined) return known;
    const line = format.encode(seen.type, seen.object);
    this.#lines.set(id, line);
    return line;
  }

  /** Called when the watchers have had it: a history need not keep what may never be asked for again. */
  forgetLines(): void {
    this.#lines.clear();
  }

  #lastMatching(): IndexedObject {
    this.#left ??= (this.previous ?? this.object).at(this.revision);
    return this.#left;
  }
}
