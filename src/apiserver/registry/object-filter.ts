import type { IndexedObject, ObjectFacts } from './indexed-object.ts';
import type { ObjectIndex } from './object-index.ts';

/** Which objects of a kind a list or a watch is about. */
export interface ObjectFilter {
  /** '' : all. */
  readonly namespace: string;
  /** No other object can pass: it is found without looking at all of them. */
  readonly onlyKey: string | undefined;
  readonly labels: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  readonly fields: ((fields: Readonly<Record<string, string>>) => boolean) | undefined;
}

/** Whether the filter looks at more than the namespace: then the number of objects left is not known. */
export function isSelective(filter: ObjectFilter): boolean {
  return filter.labels !== undefined || filter.fields !== undefined;
}

/** Those of the present objects among which the ones that pass are, in order. */
export function candidates(index: Pick<ObjectIndex, 'get' | 'list'>, { namespace, onlyKey }: ObjectFilter): readonly IndexedObject[] {
  if (onlyKey === undefined) return index.list(namespace);
  const only = index.get(onlyKey);
  return only === undefined ? [] : [only];
}

/** @param key as in `IndexedObject.key` */
export function passes(filter: ObjectFilter, key: string, facts: ObjectFacts): boolean {
  if (filter.onlyKey !== undefined && filter.onlyKey !== key) return false;
  if (filter.namespace !== '' && !key.startsWith(`${filter.namespace}/`)) return false;
  return (filter.labels?.(facts.labels) ?? true) && (filter.fields?.(facts.fields) ?? true);
}
