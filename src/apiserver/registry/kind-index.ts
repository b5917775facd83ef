import type { KubeObject } from '#api/object.ts';
import type { Clock } from '#base/clock.ts';
import type { StorageEvent, StoredEntry } from '#store/storage.ts';
import { Change } from './change.ts';
import { History, type HistoryLimits } from './history.ts';
import { StoredObject } from './indexed-object.ts';
import type { KindStorage } from './kind-storage.ts';
import type { ObjectIndex } from './object-index.ts';

export type ChangeListener = (change: Change) => void;

/** All objects of one kind in memory, in the order of their keys, and what changed of late. */
export class KindIndex implements ObjectIndex {
  readonly storage: KindStorage;
  readonly #limits: HistoryLimits;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners = new Set<ChangeListener>();
  readonly #resets = new Set<() => void>();
  #byKey = new Map<string, StoredObject>();
  #sorted: StoredObject[] = [];
  #isShared = false;
  #history: History;

  constructor(storage: KindStorage, limits: HistoryLimits, clock: Pick<Clock, 'monotonic'>) {
    this.storage = storage;
    this.#limits = limits;
    this.#clock = clock;
    this.#history = new History(0, limits);
  }

  get history(): History {
    return this.#history;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key);
  }

  list(namespace: string): readonly StoredObject[] {
    if (namespace === '') {
      this.#isShared = true;
      return this.#sorted;
    }
    return this.#sorted.slice(this.#position(`${namespace}/`), this.#position(`${namespace}0`)); // '0' follows '/'
  }

  subscribe(listener: ChangeListener, onReset: () => void): () => void {
    this.#listeners.add(listener);
    this.#resets.add(onReset);
    return () => {
      this.#listeners.delete(listener);
      this.#resets.delete(onReset);
    };
  }

  encode(_key: string, object: KubeObject): Buffer {
    return this.storage.encode(object);
  }

  read(entry: Pick<StoredEntry, 'key' | 'value' | 'modRevision'>): StoredObject {
    return StoredObject.fromBytes(this.storage, entry.key.slice(this.storage.prefix.length), entry.value, entry.modRevision);
  }

  /** Starts anew from a read of the whole kind. */
  reset(entries: readonly StoredEntry[], revision: number): void {
    this.#sorted = entries.map((entry) => this.read(entry)).sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#byKey = new Map(this.#sorted.map((object) => [object.key, object]));
    this.#isShared = false;
    this.#history = new History(revision, this.#limits);
    for (const onReset of [...this.#resets]) onReset();
  }

  apply(event: StorageEvent): void {
    const object = this.read(event.entry);
    const previous = this.#byKey.get(object.key);
    if (event.kind === 'delete' && previous === undefined) return; // it came and went before the index was read
    const change = new Change(event.kind === 'delete' ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED', object, previous);
    if (change.type === 'DELETED') this.#remove(object.key);
    else this.#put(object);
    this.#history.add(change, this.#clock.monotonic());
    for (const listener of [...this.#listeners]) listener(change);
    change.forgetLines();
  }

  #put(object: StoredObject): void {
    this.#unshare();
    const at = this.#position(object.key);
    this.#sorted.splice(at, this.#sorted[at]?.key === object.key ? 1 : 0, object);
    this.#byKey.set(object.key, object);
  }

  #remove(key: string): void {
    this.#unshare();
    this.#sorted.splice(this.#position(key), 1);
    this.#byKey.delete(key);
  }

  #unshare(): void {
    if (!this.#isShared) return;
    this.#sorted = this.#sorted.slice();
    this.#isShared = false;
  }

  /** Of the first object whose key is not below `key`. */
  #position(key: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle]?.key ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
