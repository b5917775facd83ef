import type { ObjectFacts } from './indexed-object.ts';

/** Which objects of a kind a list or a watch is about. */
export interface ObjectFilter {
  /** '' : all. */
  readonly namespace: string;
  readonly labels: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  readonly fields: ((fields: Readonly<Record<string, string>>) => boolean) | undefined;
}

/** Whether the filter looks at more than the namespace: then the number of objects left is not known. */
export function isSelective(filter: ObjectFilter): boolean {
  return filter.labels !== undefined || filter.fields !== undefined;
}

/** @param key as in `IndexedObject.key` */
export function passes(filter: ObjectFilter, key: string, facts: ObjectFacts): boolean {
  if (filter.namespace !== '' && !key.startsWith(`${filter.namespace}/`)) return false;
  return (filter.labels?.(facts.labels) ?? true) && (filter.fields?.(facts.fields) ?? true);
}
