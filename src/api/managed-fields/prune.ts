import { type FieldSet, isOwned, leaf } from './field-set.ts';
import {
  childOf,
  elementOfItem,
  type FieldType,
  isGranularList,
  isGranularObject,
  type JsonObject,
  type ListType,
  type StructType,
} from './field-type.ts';

/**
 * The object without what somebody applied last time, does not apply any more, and nobody else owns. A struct goes when nothing in it is owned
 * any more, with all that is in it; so does an entry of a map and an item of a list that is not owned itself.
 *
 * @param last what was applied last time
 * @param kept what anybody owns now
 */
export function prune(type: StructType, object: JsonObject, last: FieldSet, kept: FieldSet): JsonObject {
  return ofObject(type, object, last, kept) ?? {};
}

function ofObject(type: FieldType, object: JsonObject, last: FieldSet, kept: FieldSet): JsonObject | undefined {
  let isChanged = false;
  const entries: (readonly [string, unknown])[] = [];
  for (const [name, value] of Object.entries(object)) {
    const { element, type: inner } = childOf(type, name);
    const isField = type.kind === 'struct' && type.field(name) !== undefined;
    const rest = ofValue(inner, value, last[element], kept[element], isField);
    if (rest !== value) isChanged = true;
    if (rest !== undefined) entries.push([name, rest]);
  }
  if (!isChanged) return object;
  return entries.length === 0 ? undefined : Object.fromEntries(entries); // not by assignment: a key may be `__proto__`
}

function ofList(type: ListType, items: readonly unknown[], last: FieldSet, kept: FieldSet): readonly unknown[] | undefined {
  const rest = items.map((item) => {
    const element = elementOfItem(type, item);
    return element === undefined ? item : ofValue(type.items, item, last[element], kept[element], false);
  });
  if (rest.every((item, index) => item === items[index])) return items;
  const left = rest.filter((item) => item !== undefined);
  return left.length === 0 ? undefined : left;
}

/** @param isField what lies below a field of a struct owns the field with it */
function ofValue(type: FieldType, value: unknown, last: FieldSet | undefined, kept: FieldSet | undefined, isField: boolean): unknown {
  if (last === undefined) return value;
  const wasOwned = isField || isOwned(last);
  const isKept = kept !== undefined && (isField || isOwned(kept));
  if (wasOwned && !isKept) return undefined;
  if (isGranularObject(type, value)) return ofObject(type, value, last, kept ?? leaf);
  return isGranularList(type, value) ? ofList(type as ListType, value, last, kept ?? leaf) : value; // the guard has looked at it
}
