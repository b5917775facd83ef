import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { ObjectFacts } from './indexed-object.ts';
import { ObjectBytes } from './object-bytes.ts';

/** Everything of ours lies below it, with upstream's keys. */
export const storageRoot = '/registry/';

/** How one kind lies in the store: its keys, its bytes, what is read off its objects. */
export class KindStorage {
  readonly kind: Kind;
  readonly bytes: ObjectBytes;
  /** `/registry/pods/` */
  readonly prefix: string;
  readonly #written = new WeakMap<Uint8Array, KubeObject>();

  /** @param prefix of the kind that the objects are stored as */
  constructor(kind: Kind, prefix = `${storageRoot}${kind.storagePrefix}/`) {
    this.kind = kind;
    this.bytes = new ObjectBytes(kind);
    this.prefix = prefix;
  }

  /** @param namespace ignored for cluster-scoped kinds @returns what follows the prefix */
  keyOf(namespace: string, name: string): string {
    return this.kind.scope === 'Namespaced' ? `${namespace}/${name}` : name;
  }

  /** The bytes to commit. Stores that hand the same bytes to their watch spare the index a parse. */
  encode(object: KubeObject): Buffer {
    const stored = this.bytes.toStored(object);
    this.#written.set(stored, object);
    return stored;
  }

  /** What `encode` made these very bytes from. */
  writtenAs(stored: Uint8Array): KubeObject | undefined {
    return this.#written.get(stored);
  }

  factsOf(object: KubeObject): ObjectFacts {
    const { name, namespace } = object.metadata;
    const fields: Record<string, string> = { 'metadata.name': name };
    if (this.kind.scope === 'Namespaced') fields['metadata.namespace'] = namespace ?? '';
    for (const [field, read] of Object.entries(this.kind.selectableFields)) fields[field] = read(object);
    return { uid: object.metadata.uid, labels: object.metadata.labels ?? {}, fields };
  }
}
