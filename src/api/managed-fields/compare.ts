import { deepEqual } from '../deep-equal.ts';
import { type FieldSet, type FieldSetDraft, inOrder, isBare, leaf } from './field-set.ts';
import {
  childOf,
  elementOfItem,
  type FieldType,
  isGranularList,
  isGranularObject,
  isJsonObject,
  itemsByElement,
  type JsonObject,
  type ListType,
  type StructType,
} from './field-type.ts';
import { itself } from './path-element.ts';

/** The fields in which an object differs from another. */
export interface Changes {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/**
 * What `after` says otherwise than `before`; undefined when it is nothing. Parts that are the same object are not looked into.
 *
 * @param before an empty object for one that is new
 * @param skipped fields that count as equal, with all that lies below them
 */
export function compare(type: StructType, before: JsonObject, after: JsonObject, skipped: FieldSet = leaf): Changes | undefined {
  const changes = ofObjects(type, before, after, skipped);
  return changes && { added: changes.added ?? leaf, modified: changes.modified ?? leaf, removed: changes.removed ?? leaf };
}

/** All fields of a value that came or went as a whole: every node is owned. */
export function wholeSet(type: FieldType, value: unknown): FieldSet {
  const set: FieldSetDraft = { [itself]: leaf };
  if (isGranularObject(type, value)) {
    for (const name of Object.keys(value)) {
      if (value[name] === undefined) continue;
      const child = childOf(type, name);
      set[child.element] = wholeSet(child.type, value[name]);
    }
  } else if (isGranularList(type, value)) {
    const list = type as ListType; // the guard has looked at it
    for (const item of value) {
      const element = elementOfItem(list, item);
      if (element !== undefined) set[element] = element in set ? leaf : wholeSet(list.items, item); // items that cannot be told apart are one field
    }
  } else return leaf;
  return isOnlyItself(set) ? leaf : inOrder(set);
}

/** Changes below a node, or of the node as a whole. */
interface NodeChanges {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}

interface ChangesDraft {
  added?: FieldSetDraft;
  modified?: FieldSetDraft;
  removed?: FieldSetDraft;
}

const modifiedLeaf: NodeChanges = { modified: leaf };

function ofValues(type: FieldType, before: unknown, after: unknown, skipped: FieldSet | undefined): NodeChanges | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: wholeSet(type, after) };
  if (after === undefined) return { removed: wholeSet(type, before) };
  if (isGranularObject(type, before) || isGranularObject(type, after)) {
    const left = isJsonObject(before) ? before : {};
    const right = isJsonObject(after) ? after : {};
    if (!isEmptyObject(left) || !isEmptyObject(right)) return ofObjects(type, left, right, skipped);
  } else if (isGranularList(type, before) || isGranularList(type, after)) {
    const left: readonly unknown[] = Array.isArray(before) ? before : [];
    const right: readonly unknown[] = Array.isArray(after) ? after : [];
    if (left.length + right.length > 0) return ofLists(type as ListType, left, right); // the guard has looked at it
  }
  // Both are empty, or owned as a whole.
  return deepEqual(before, after) ? undefined : modifiedLeaf;
}

function ofObjects(type: FieldType, before: JsonObject, after: JsonObject, skipped: FieldSet | undefined): NodeChanges | undefined {
  const changes: ChangesDraft = {};
  const visit = (name: string) => {
    const child = childOf(type, name);
    const inner = skipped?.[child.element];
    if (inner !== undefined && isBare(inner)) return;
    const found = ofValues(child.type, valueAt(type, before, name), valueAt(type, after, name), inner);
    if (found !== undefined) add(changes, child.element, found);
  };
  for (const name of Object.keys(after)) if (after[name] !== undefined) visit(name);
  for (const name of Object.keys(before)) if (before[name] !== undefined && after[name] === undefined) visit(name);
  return sorted(changes);
}

/** Go's structs inside structs are there even when they are not written. */
function valueAt(type: FieldType, object: JsonObject, name: string): unknown {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value !== undefined || type.kind !== 'struct' || !type.alwaysThere.includes(name)) return value;
  return type.field(name)?.type.kind === 'struct' ? nothing : null;
}

const nothing: JsonObject = Object.freeze({});

function ofLists(type: ListType, before: readonly unknown[], after: readonly unknown[]): NodeChanges | undefined {
  const changes: ChangesDraft = {};
  const left = itemsByElement(type, before);
  const right = itemsByElement(type, after);
  for (const [element, items] of right) {
    const found = ofItems(type.items, left.get(element) ?? [], items);
    if (found !== undefined) add(changes, element, found);
  }
  for (const [element, items] of left) {
    if (!right.has(element)) add(changes, element, ofItems(type.items, items, []) ?? {});
  }
  return sorted(changes);
}

/** Items of one element. Several cannot be told apart: they are one field together. */
function ofItems(type: FieldType, before: readonly unknown[], after: readonly unknown[]): NodeChanges | undefined {
  if (before.length <= 1 && after.length <= 1) return ofValues(type, before[0], after[0], undefined);
  if (before.length === 0) return { added: leaf };
  if (after.length === 0) return { removed: leaf };
  return deepEqual(before, after) ? undefined : modifiedLeaf;
}

function add(changes: ChangesDraft, element: string, { added, modified, removed }: NodeChanges): void {
  if (added !== undefined) {
    changes.added ??= {};
    changes.added[element] = added;
  }
  if (modified !== undefined) {
    changes.modified ??= {};
    changes.modified[element] = modified;
  }
  if (removed !== undefined) {
    changes.removed ??= {};
    changes.removed[element] = removed;
  }
}

function sorted({ added, modified, removed }: ChangesDraft): NodeChanges | undefined {
  if (added === undefined && modified === undefined && removed === undefined) return undefined;
  return {
    ...(added === undefined ? {} : { added: inOrder(added) }),
    ...(modified === undefined ? {} : { modified: inOrder(modified) }),
    ...(removed === undefined ? {} : { removed: inOrder(removed) }),
  };
}

function isEmptyObject(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

function isOnlyItself(set: FieldSet): boolean {
  return Object.keys(set).length === 1;
}
