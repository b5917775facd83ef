import { apiVersionOf, type KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';

const metadataStart = '"metadata":{';

/**
 * How the objects of a kind are written: `{"apiVersion":A,"kind":K,"metadata":{` is the same for all of them, so the revision, which is known
 * only after the commit, goes right behind it, and an item of a list is what follows the kind.
 */
export class ObjectBytes {
  /** `{"apiVersion":"v1","kind":"Pod",` */
  readonly head: Buffer;
  readonly #stored: Buffer;

  constructor(kind: Pick<KindRef, 'group' | 'version' | 'kind'>) {
    const head = `{"apiVersion":${JSON.stringify(apiVersionOf(kind))},"kind":${JSON.stringify(kind.kind)},`;
    this.head = Buffer.from(head);
    this.#stored = Buffer.from(`${head}${metadataStart}`);
  }

  /** What the store keeps: everything but the resourceVersion. */
  toStored(object: KubeObject): Buffer {
    const { apiVersion, kind, metadata, ...rest } = object;
    const { resourceVersion: _, ...kept } = metadata;
    return Buffer.from(JSON.stringify({ apiVersion, kind, metadata: kept, ...rest }));
  }

  /** The object without its kind, with its revision: what stands in a list. @param revision 0: it is not stored and has none */
  toItem(stored: Uint8Array, revision: number): Buffer {
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    const isOurs = bytes.length > this.#stored.length && bytes.compare(this.#stored, 0, this.#stored.length, 0, this.#stored.length) === 0;
    const tail = (isOurs ? bytes : this.#rewritten(bytes)).subarray(this.#stored.length);
    return kept(itemHead(revision), tail);
  }

  /** The same item under another revision. */
  atRevision(item: Buffer, before: number, after: number): Buffer {
    return kept(itemHead(after), item.subarray(itemHead(before).length));
  }

  /** A whole object from an item. */
  toObject(item: Uint8Array): Buffer {
    return Buffer.concat([this.head, item.subarray(1)]);
  }

  parse(item: Buffer): KubeObject {
    return JSON.parse(this.head.toString() + item.toString('utf8', 1)) as KubeObject; // only what passed a kind's schema was stored
  }

  /** Another program may have written the value with its keys in another order. */
  #rewritten(bytes: Buffer): Buffer {
    return this.toStored(JSON.parse(bytes.toString()) as KubeObject); // see parse
  }
}

/** What is kept for long has memory of its own: a piece of Node's shared 8 KiB would hold all of it. */
function kept(head: Buffer, tail: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

function itemHead(revision: number): Buffer {
  if (revision === 0) return Buffer.from(`{${metadataStart}`);
  return Buffer.from(`{${metadataStart}"resourceVersion":"${revision}",`);
}
