import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Written } from '../registry/registry.ts';
import type { Writer } from '../request/writer.ts';

/** An object with what it was given beside itself, such as an address. Exactly one of the two functions is called; of a dry run none. */
export interface Reserved {
  readonly object: KubeObject;
  /** The object was stored. */
  keep(): Promise<void>;
  /** It was not: gives back what was taken for it. Never throws. */
  release(): Promise<void>;
}

/** What objects of a kind get from a limited supply as they are stored: a Service its addresses and ports. */
export interface Reservations {
  handles(kind: Kind): boolean;
  /**
   * Called with a valid object before it is stored. Of a dry run nothing is taken.
   *
   * @param previous undefined: the object is new
   * @throws a `StatusError` (422) when what the object asks for cannot be had
   */
  reserve(next: KubeObject, previous: KubeObject | undefined, writer: Writer, signal: AbortSignal): Promise<Reserved>;
  /** The object is gone. Never throws. */
  giveUp(object: KubeObject, signal: AbortSignal): Promise<void>;
}

/** All of them, as one. */
export function reservationsOf(kind: Kind, all: readonly Reservations[]): Reservations | undefined {
  return all.find((one) => one.handles(kind));
}

/** Stores an object, and keeps or gives back what was reserved for it. */
export async function settled(reserved: Reserved | undefined, store: () => Promise<Written>): Promise<Written> {
  try {
    const result = await store();
    await (result.kind === 'written' ? reserved?.keep() : reserved?.release());
    return result;
  } catch (error) {
    await reserved?.release();
    throw error;
  }
}
