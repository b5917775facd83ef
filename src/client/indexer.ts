import { type KubeObject, objectKey } from '#api/object.ts';
import type { Informer } from './informer-port.ts';

/** The objects of an informer by a property of theirs, kept up to date. */
export interface Index<T extends KubeObject> {
  /** In the order in which they came to have the property. */
  get(property: string): readonly T[];
  /** Every property that some object has. */
  properties(): readonly string[];
  close(): void;
}

/** @param propertyOf `undefined` for an object that is not in the index */
export function createIndex<T extends KubeObject>(informer: Informer<T>, propertyOf: (object: T) => string | undefined): Index<T> {
  const groups = new Map<string, Map<string, T>>();
  const remove = (object: T) => {
    const property = propertyOf(object);
    const group = property === undefined ? undefined : groups.get(property);
    if (property === undefined || group === undefined) return;
    group.delete(objectKey(object.metadata));
    if (group.size === 0) groups.delete(property);
  };
  const put = (object: T) => {
    const property = propertyOf(object);
    if (property === undefined) return;
    const group = groups.get(property) ?? new Map<string, T>();
    groups.set(property, group.set(objectKey(object.metadata), object));
  };
  const close = informer.subscribe((change) => {
    if (change.type === 'updated' && propertyOf(change.previous) !== propertyOf(change.object)) remove(change.previous);
    if (change.type === 'deleted') remove(change.object);
    else put(change.object);
  });
  return { get: (property) => [...(groups.get(property)?.values() ?? [])], properties: () => [...groups.keys()], close };
}
