import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { ObjectReader } from '../request/route.ts';
import type { Registry } from './registry.ts';

/** Typed reads of the indexes. The casts are true because a kind's index holds what passed the kind's schema. */
export function createObjectReader(registry: Registry): ObjectReader {
  return {
    get<T extends KubeObject>(kind: KindRef<T>, namespace: string, name: string) {
      const index = registry.index(kind);
      return index.get(index.storage.keyOf(namespace, name))?.object() as T | undefined;
    },
    list<T extends KubeObject>(kind: KindRef<T>) {
      return registry
        .index(kind)
        .list('')
        .map((entry) => entry.object() as T);
    },
  };
}
