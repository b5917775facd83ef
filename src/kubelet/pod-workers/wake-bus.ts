import type { Watchable } from '#base/watchable.ts';
import type { WakeKey } from '#startup/transition.ts';
import type { ObjectsPort } from '../ports/objects.ts';
import type { WakePort } from '../ports/wake.ts';

export interface WakeSources {
  readonly objects: ObjectsPort;
  readonly network: Watchable<unknown>;
}

/** Brings what pods wait for to those who wait. Changes of the runtime and time reach the workers by themselves. */
export class WakeBus implements WakePort {
  readonly #sources: WakeSources;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(sources: WakeSources) {
    this.#sources = sources;
  }

  signal(key: WakeKey): void {
    for (const wake of [...(this.#waiting.get(nameOf(key)) ?? [])]) wake();
  }

  /** Calls `wake` when any of the keys comes; the result unsubscribes. */
  subscribe(keys: readonly WakeKey[], wake: () => void): () => void {
    const forgets = keys.map((key) => this.#subscribeOne(key, wake));
    return () => {
      for (const forget of forgets) forget();
    };
  }

  #subscribeOne(key: WakeKey, wake: () => void): () => void {
    switch (key.kind) {
      case 'object': {
        // Both: whoever already follows the object may know first.
        const forgets = [this.#sources.objects.watch(key.ref, wake), this.#subscribeNamed(key, wake)];
        return () => {
          for (const forget of forgets) forget();
        };
      }
      case 'network':
        return this.#sources.network.subscribe(wake);
      case 'volume':
      case 'image':
        return this.#subscribeNamed(key, wake);
      case 'runtime':
      case 'time':
        return () => undefined;
    }
  }

  #subscribeNamed(key: WakeKey, wake: () => void): () => void {
    const name = nameOf(key);
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(wake));
    return () => {
      waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(name);
    };
  }
}

function nameOf(key: WakeKey): string {
  switch (key.kind) {
    case 'object':
      return `object/${key.ref}`;
    case 'volume':
      return `volume/${key.name}`;
    case 'image':
      return `image/${key.ref}`;
    default:
      return key.kind;
  }
}
