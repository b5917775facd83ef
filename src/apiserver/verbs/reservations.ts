import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Writer } from '../request/writer.ts';

/** An object with what it was given beside itself, such as an address. Exactly one of the two functions is called. */
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
