import { compare } from './compare.ts';
import { capped, type Entry, entryOf, inOrder, isOwnedBy, type Owner, withoutFields } from './entries.ts';
import { difference, type FieldSet, isBare, leaf, union } from './field-set.ts';
import type { JsonObject, StructType } from './field-type.ts';

/** Who writes which kind of object through which endpoint, and when. */
export interface FieldWriter {
  readonly type: StructType;
  readonly manager: string;
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** Fields that nobody owns through this endpoint, with all that lies below them. */
  readonly unowned: FieldSet;
  /** A pattern of those that the endpoint takes; absent: all others. */
  readonly taken?: FieldSet | undefined;
  /** RFC 3339, seconds. */
  readonly time: string;
}

/**
 * Who owns what after an update: the writer has what it added and changed, nobody has what it removed.
 *
 * @param before an empty object for one that is new
 * @returns `entries` themselves when nobody's fields change
 */
export function trackUpdate(entries: readonly Entry[], before: JsonObject, after: JsonObject, writer: FieldWriter): readonly Entry[] {
  const changes = compare(writer.type, before, after, writer.unowned);
  if (changes === undefined) return entries;
  const owner: Owner = { ...writer, operation: 'Update' };
  const taken = union(changes.added, changes.modified);
  const own = entries.find((entry) => isOwnedBy(entry, owner));
  const others = entries.filter((entry) => entry !== own);
  const left = withoutFields(withoutFields(others, taken), changes.removed);
  const fields = union(difference(own?.fieldsV1 ?? leaf, changes.removed), taken);
  const isUpdated = !isBare(taken);
  const written = isBare(fields) ? [] : [entryOf(owner, fields, isUpdated ? writer.time : own?.time)];
  return capped(inOrder([...left, ...written]));
}
