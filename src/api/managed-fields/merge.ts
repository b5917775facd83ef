import {
  childOf,
  type FieldType,
  isGranularList,
  isGranularObject,
  isJsonObject,
  itemsByElement,
  type JsonObject,
  type ListType,
} from './field-type.ts';

/**
 * An object with what somebody applies to it: structs and maps field by field, lists by their items, all else as it is applied; null too.
 * Nothing is changed in place; what is not touched is shared with the result.
 */
export function merge(type: FieldType, live: JsonObject, applied: JsonObject): JsonObject {
  const merged = new Map(Object.entries(live));
  for (const [name, value] of Object.entries(applied)) merged.set(name, ofValues(childOf(type, name).type, merged.get(name), value));
  return Object.fromEntries(merged); // not by assignment: a key may be `__proto__`
}

function ofValues(type: FieldType, live: unknown, applied: unknown): unknown {
  if (live === undefined || applied === undefined) return applied ?? live;
  if (isGranularObject(type, live) && (isJsonObject(applied) || applied === null)) {
    // Null owns the field, but what others have in it stays.
    return applied !== null ? merge(type, live, applied) : Object.keys(live).length === 0 ? null : live;
  }
  if (isGranularList(type, live) && (Array.isArray(applied) || applied === null)) {
    const items: readonly unknown[] = applied ?? [];
    return live.length + items.length === 0 ? applied : ofLists(type as ListType, live, items); // the guard has looked at it
  }
  return applied;
}

/**
 * Items of both lists in the order of what is applied; those that only the live list has stay before the applied item that followed them there.
 */
function ofLists(type: ListType, live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const left = itemsByElement(type, live);
  const right = itemsByElement(type, applied);
  const liveOrder = [...left.keys()];
  const sharedLeft = [...right.keys()].filter((element) => left.has(element));
  const merged: unknown[] = [];
  let at = 0;
  for (const [element, items] of right) {
    // Up to the shared item whose turn it is; other shared items have their own turn.
    while (at < liveOrder.length) {
      const head = liveOrder[at] ?? '';
      if (!right.has(head)) merged.push(...(left.get(head) ?? []));
      else if (head === element || head === sharedLeft[0]) break;
      at++;
    }
    if (liveOrder[at] === element) at++;
    if (sharedLeft[0] === element) sharedLeft.shift();
    const before = left.get(element) ?? [];
    for (const item of items) merged.push(before.length === 1 ? ofValues(type.items, before[0], item) : item);
  }
  for (const element of liveOrder.slice(at)) if (!right.has(element)) merged.push(...(left.get(element) ?? []));
  return merged;
}
