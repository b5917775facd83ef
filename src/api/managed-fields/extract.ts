import { type FieldSet, type FieldSetDraft, inOrder, isBare, leaf } from './field-set.ts';
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
import { itself } from './path-element.ts';

/**
 * The fields that an object names: what who applies it wants to own. Entries of maps and items of lists are owned besides what they hold,
 * structs only when they are empty or null.
 *
 * @param skipped fields that are left out, with all that lies below them
 */
export function namedFields(type: StructType, object: JsonObject, skipped: FieldSet = leaf): FieldSet {
  return ofObject(type, object, skipped);
}

function ofObject(type: FieldType, object: JsonObject, skipped: FieldSet | undefined): FieldSet {
  const set: FieldSetDraft = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const { element, type: inner } = childOf(type, name);
    const below = skipped?.[element];
    if (below !== undefined && isBare(below)) continue;
    const isKnown = type.kind === 'struct' && type.field(name) !== undefined;
    const node = ofValue(inner, value, below);
    if (node !== undefined) set[element] = isKnown ? node : owned(node);
    else if (!isKnown) set[element] = leaf;
  }
  return inOrder(set);
}

/** Undefined: it names nothing. */
function ofValue(type: FieldType, value: unknown, skipped: FieldSet | undefined): FieldSet | undefined {
  if (isGranularObject(type, value)) {
    if (Object.keys(value).length === 0) return leaf;
    const set = ofObject(type, value, skipped);
    return isBare(set) ? undefined : set;
  }
  return isGranularList(type, value) ? ofList(type as ListType, value) : leaf; // the guard has looked at it
}

function ofList(type: ListType, items: readonly unknown[]): FieldSet | undefined {
  const set: FieldSetDraft = {};
  for (const item of items) {
    const element = elementOfItem(type, item);
    if (element === undefined) continue;
    const node = element in set ? undefined : ofValue(type.items, item, undefined);
    set[element] = node === undefined ? leaf : owned(node);
  }
  return isBare(set) ? undefined : inOrder(set);
}

function owned(node: FieldSet): FieldSet {
  return isBare(node) || itself in node ? node : { [itself]: leaf, ...node };
}
