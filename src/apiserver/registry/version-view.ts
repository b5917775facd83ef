import type { StoredAs } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { StoredEntry } from '#store/storage.ts';
import { Change } from './change.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { IndexedObject, ObjectFacts } from './indexed-object.ts';
import type { ChangeListener, KindIndex } from './kind-index.ts';
import type { KindStorage } from './kind-storage.ts';
import type { ObjectIndex, PastChanges } from './object-index.ts';

/** The objects of a stored kind in another version. Nothing is kept that cannot be made again from what is stored. */
export class VersionView implements ObjectIndex {
  readonly storage: KindStorage;
  readonly #base: KindIndex;
  readonly #conversion: StoredAs<KubeObject>;
  readonly #viewed = new WeakMap<IndexedObject, ViewedObject>();
  /** The change that is being told: all its listeners share it, and with it the bytes of its events. */
  #told: { readonly stored: Change; readonly viewed: Change } | undefined;

  constructor(storage: KindStorage, base: KindIndex, conversion: StoredAs<KubeObject>) {
    this.storage = storage;
    this.#base = base;
    this.#conversion = conversion;
  }

  get history(): PastChanges {
    const { history } = this.#base;
    return { floor: history.floor, since: (revision) => history.since(revision)?.map((change) => this.#changeOf(change)) };
  }

  get(key: string): IndexedObject | undefined {
    const stored = this.#base.get(key);
    return stored === undefined ? undefined : this.#of(stored);
  }

  list(namespace: string): readonly IndexedObject[] {
    return this.#base.list(namespace).map((stored) => this.#of(stored));
  }

  subscribe(listener: ChangeListener, onReset: () => void): () => void {
    return this.#base.subscribe((stored) => {
      if (this.#told?.stored !== stored) this.#told = { stored, viewed: this.#changeOf(stored) };
      listener(this.#told.viewed);
    }, onReset);
  }

  encode(key: string, object: KubeObject): Buffer {
    const converted = this.#conversion.toStored(object, this.#base.get(key)?.object());
    return this.#base.storage.encode(converted);
  }

  read(entry: Pick<StoredEntry, 'key' | 'value' | 'modRevision'>): IndexedObject {
    return this.#of(this.#base.read(entry));
  }

  #changeOf({ type, object, previous }: Change): Change {
    return new Change(type, this.#of(object), previous === undefined ? undefined : this.#of(previous));
  }

  #of(stored: IndexedObject): ViewedObject {
    const known = this.#viewed.get(stored);
    if (known !== undefined) return known;
    const viewed = new ViewedObject(stored, this.storage, this.#conversion, (other) => this.#of(other));
    this.#viewed.set(stored, viewed);
    return viewed;
  }
}

/** One state of an object in another version; all but the reference to what is stored comes and goes. */
class ViewedObject implements IndexedObject {
  readonly key: string;
  readonly revision: number;
  readonly facts: ObjectFacts;
  readonly #stored: IndexedObject;
  readonly #storage: KindStorage;
  readonly #conversion: StoredAs<KubeObject>;
  readonly #viewOf: (stored: IndexedObject) => IndexedObject;
  #object: WeakRef<KubeObject> | undefined;
  #item: WeakRef<Buffer> | undefined;

  constructor(stored: IndexedObject, storage: KindStorage, conversion: StoredAs<KubeObject>, viewOf: (stored: IndexedObject) => IndexedObject) {
    this.key = stored.key;
    this.revision = stored.revision;
    this.#stored = stored;
    this.#storage = storage;
    this.#conversion = conversion;
    this.#viewOf = viewOf;
    const fields = () => storage.factsOf(this.object()).fields;
    // Only a selector of fields needs the object itself: its labels are the same in every version.
    this.facts = {
      uid: stored.facts.uid,
      labels: stored.facts.labels,
      get fields() {
        return fields();
      },
    };
  }

  get item(): Buffer {
    const known = this.#item?.deref();
    if (known !== undefined) return known;
    const { bytes } = this.#storage;
    const item = bytes.toItem(bytes.toStored(this.object()), this.revision);
    this.#item = new WeakRef(item);
    return item;
  }

  json(): Buffer {
    return this.#storage.bytes.toObject(this.item);
  }

  object(): KubeObject {
    const known = this.#object?.deref();
    if (known !== undefined) return known;
    const object = deepFreeze(this.#conversion.fromStored(this.#stored.object()));
    this.#object = new WeakRef(object);
    return object;
  }

  at(revision: number): IndexedObject {
    return revision === this.revision ? this : this.#viewOf(this.#stored.at(revision));
  }
}
