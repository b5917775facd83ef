import { InvalidInput } from '#base/errors.ts';
import { compareElements, itself, parseElement, printElement } from './path-element.ts';

/**
 * A set of fields in the very form that objects carry (FieldsV1): what a manager owns is read from and written to an object without a step in
 * between. Keys are path elements, in order. A node without keys is owned; one with keys is owned when `.` is among them. The root stands for
 * the whole object and owns nothing itself: a root without keys is the empty set. Sets are never changed.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A set that is being built. */
export type FieldSetDraft = Record<string, FieldSet>;

/** The empty set as a root, one owned field as a node. */
export const leaf: FieldSet = Object.freeze({});

export function isBare(node: FieldSet): boolean {
  for (const _ in node) return false;
  return true;
}

/** Whether the node itself is owned; not asked of a root. */
export function isOwned(node: FieldSet): boolean {
  return itself in node || isBare(node);
}

/** The set of one field, given by its elements. */
export function setOfPath(elements: readonly string[]): FieldSet {
  return elements.reduceRight<FieldSet>((inner, element) => ({ [element]: inner }), leaf);
}

/** @returns one of the two when it has all of the other */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isBare(b)) return a;
  if (isBare(a)) return b;
  const merged: FieldSetDraft = { ...a };
  let isChanged = false;
  let isGrown = false;
  for (const [element, other] of Object.entries(b)) {
    const known = a[element];
    const joined = known === undefined ? other : unionOfNodes(known, other);
    if (joined === known) continue;
    merged[element] = joined;
    isChanged = true;
    isGrown ||= known === undefined;
  }
  if (isGrown) return inOrder(merged);
  return isChanged ? merged : a;
}

/** What `a` has and `b` has not, field by field: owning a node is not owning what lies below. @returns `a` itself when nothing goes */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let kept: FieldSetDraft | undefined;
  for (const element in a) {
    const other = b[element];
    const node = a[element];
    if (other === undefined || node === undefined) continue;
    const rest = differenceOfNodes(node, other);
    if (rest === node) continue;
    kept ??= { ...a };
    if (rest === undefined) delete kept[element];
    else kept[element] = rest;
  }
  return kept ?? a;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const common: FieldSetDraft = {};
  for (const [element, node] of Object.entries(a)) {
    const other = b[element];
    const both = other === undefined ? undefined : intersectionOfNodes(node, other);
    if (both !== undefined) common[element] = both;
  }
  return common;
}

/** In a pattern: any item of a list. */
export const anyItem = '*';

/** The part of a set that lies within a pattern: a set whose leaves stand for all that lies below them. */
export function within(set: FieldSet, pattern: FieldSet): FieldSet {
  const kept: FieldSetDraft = {};
  for (const [element, node] of Object.entries(set)) {
    const inner = element === itself ? undefined : (pattern[element] ?? pattern[anyItem]);
    if (inner === undefined) continue;
    const rest = isBare(inner) ? node : within(node, inner);
    if (isBare(inner) || !isBare(rest)) kept[element] = rest;
  }
  return kept;
}

/** The fields as people read them, `.spec.containers[name="a"].image`: those of a node before what lies below them. */
export function pathsOf(set: FieldSet, prefix = ''): readonly string[] {
  const nodes = Object.entries(set).filter(([element]) => element !== itself);
  return [
    ...nodes.filter(([, node]) => isOwned(node)).map(([element]) => prefix + printElement(element)),
    ...nodes.flatMap(([element, node]) => pathsOf(node, prefix + printElement(element))),
  ];
}

/** A set that somebody else wrote. What a newer server may have written is passed over. @throws {InvalidInput} when it is no set */
export function parseFieldSet(value: unknown): FieldSet {
  const node = parseNode(value, 0);
  return itself in node ? difference(node, { [itself]: leaf }) : node;
}

/** Deeper than any real object; keeps a hostile body from exhausting the stack. */
const depthMax = 500;

function parseNode(value: unknown, depth: number): FieldSet {
  if (depth > depthMax || typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInput({ message: 'fieldsV1 is no tree of objects' });
  }
  const node: FieldSetDraft = {};
  for (const [text, inner] of Object.entries(value)) {
    if (text === itself) node[itself] = leaf;
    const element = parseElement(text);
    if (element === undefined) continue;
    const below = parseNode(inner, depth + 1);
    const known = node[element];
    node[element] = known === undefined ? below : unionOfNodes(known, below);
  }
  return inOrder(isOnlyItself(node) ? leaf : node);
}

/** The same node with its keys in the order of the format. */
export function inOrder(node: FieldSet): FieldSet {
  const elements = Object.keys(node);
  const isSorted = elements.every((element, index) => index === 0 || compareElements(elements[index - 1] ?? '', element) <= 0);
  if (isSorted) return node;
  return Object.fromEntries(elements.sort(compareElements).map((element) => [element, node[element] ?? leaf]));
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (isBare(a)) return isBare(b) ? a : owned(b);
  return isBare(b) ? owned(a) : union(a, b);
}

function owned(node: FieldSet): FieldSet {
  return itself in node ? node : { [itself]: leaf, ...node };
}

function differenceOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isBare(a)) return isOwned(b) ? undefined : a;
  const rest = difference(a, isBare(b) ? { [itself]: leaf } : b);
  if (rest === a) return a;
  if (isBare(rest)) return undefined;
  return isOnlyItself(rest) ? leaf : rest;
}

function intersectionOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isBare(a)) return isOwned(b) ? leaf : undefined;
  if (isBare(b)) return isOwned(a) ? leaf : undefined;
  const both = intersection(a, b);
  if (isBare(both)) return undefined;
  return isOnlyItself(both) ? leaf : both;
}

function isOnlyItself(node: FieldSet): boolean {
  if (!(itself in node)) return false;
  for (const element in node) if (element !== itself) return false;
  return true;
}
