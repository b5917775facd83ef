import type { KubeObject } from '#api/object.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { KindStorage } from './kind-storage.ts';

/** What selectors and preconditions ask of an object. */
export interface ObjectFacts {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `metadata.name`, `metadata.namespace` and the kind's own ones. */
  readonly fields: Readonly<Record<string, string>>;
}

/** One state of one object, in the version of whoever asks. */
export interface IndexedObject {
  /** `namespace/name` or `name`: what is below the kind's prefix. */
  readonly key: string;
  readonly revision: number;
  readonly facts: ObjectFacts;
  /** The object without its kind, as a list has it. */
  readonly item: Buffer;
  /** The whole object as JSON. */
  json(): Buffer;
  /** Parsed and frozen: all callers get the same one. */
  object(): KubeObject;
  /** The same state under another revision: the last state of what was deleted or no longer matches a selector. */
  at(revision: number): IndexedObject;
}

/** An object in the version that is stored: bytes and facts are kept, the parsed form comes and goes. */
export class StoredObject implements IndexedObject {
  readonly key: string;
  readonly revision: number;
  readonly facts: ObjectFacts;
  readonly item: Buffer;
  readonly #storage: KindStorage;
  #parsed: WeakRef<KubeObject> | undefined;

  private constructor(storage: KindStorage, key: string, revision: number, item: Buffer, facts: ObjectFacts) {
    this.#storage = storage;
    this.key = key;
    this.revision = revision;
    this.item = item;
    this.facts = facts;
  }

  /** @param revision 0: it is not stored and has none */
  static fromBytes(storage: KindStorage, key: string, stored: Uint8Array, revision: number): StoredObject {
    const item = storage.bytes.toItem(stored, revision);
    const object = storage.writtenAs(stored) ?? storage.bytes.parse(item);
    return new StoredObject(storage, key, revision, item, storage.factsOf(object));
  }

  json(): Buffer {
    return this.#storage.bytes.toObject(this.item);
  }

  object(): KubeObject {
    const known = this.#parsed?.deref();
    if (known !== undefined) return known;
    const parsed = deepFreeze(this.#storage.bytes.parse(this.item));
    this.#parsed = new WeakRef(parsed);
    return parsed;
  }

  at(revision: number): StoredObject {
    if (revision === this.revision) return this;
    const item = this.#storage.bytes.atRevision(this.item, this.revision, revision);
    return new StoredObject(this.#storage, this.key, revision, item, this.facts);
  }
}
